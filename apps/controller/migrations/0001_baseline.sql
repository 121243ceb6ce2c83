-- expand
-- Everything a device is and does. Tenant first in every key: tenants can be spread over databases later.
-- Codes of smallint columns live in src/domain/codes.ts; the functions over these tables are in ../functions, one file per feature.

create table id_counters (
  tenant_id int not null,
  kind      text not null,             -- 'action', 'target'
  next_id   bigint not null default 11, -- ids a device sees start at 11 (one real client misreads shorter ones) and stay below 2^31
  primary key (tenant_id, kind)
);

-- Targets

create table targets (
  tenant_id       int not null,
  id              int not null,          -- internal; the outside knows controller_id
  controller_id   text not null check (length(controller_id) between 1 and 256),
  name            text not null,
  description     text,
  address         text,
  token_digest    bytea not null,        -- sha256 of the security token: look-up
  token_cipher    bytea not null,        -- encrypted with HARRIER_SECRET_KEY: read back by those who may
  target_type_id  bigint,                -- management.target_types_v1
  target_group    text check (length(target_group) between 1 and 256), -- one name, its parts separated by '/' (contract management.md §11)
  created_by      text not null,
  created_at      timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision        int not null default 1,
  primary key (tenant_id, id)
);
-- The id is within the index that lists are ordered by: a deep page walks it without the rows. A taken controllerId is known by this name.
create unique index targets_controller_id on targets (tenant_id, controller_id) include (id);
create index targets_controller_id_folded on targets (tenant_id, lower(controller_id) text_pattern_ops);
create index targets_name on targets (tenant_id, lower(name) text_pattern_ops);
create index targets_name_order on targets (tenant_id, name, id);
create index targets_type on targets (tenant_id, target_type_id) where target_type_id is not null;
create index targets_created on targets (tenant_id, created_at);
-- Groups are asked for in any case, alone or with those below them; the exact name behind it is what the list of groups walks along.
create index targets_group on targets (tenant_id, lower(target_group) text_pattern_ops, target_group text_pattern_ops)
  where target_group is not null;

-- Changes with actions, so it lives apart from the wide, indexed targets row. Its row is the lock of a target:
-- whoever changes actions of targets locks target_state by id, ascending, first.
create table target_state (
  tenant_id          int not null,
  target_id          int not null,
  update_status      smallint not null default 0,  -- 0 unknown 1 registered 2 pending 3 in_sync 4 error
  assigned_set_id    bigint,
  installed_set_id   bigint,
  installed_at       timestamptz,
  installed_action_id bigint,                      -- newest FINISHED action of installed_set_id: the installedBase link
  request_attributes boolean not null default true,
  revision           int not null default 1,
  primary key (tenant_id, target_id),
  foreign key (tenant_id, target_id) references targets on delete cascade
) with (fillfactor = 80);
create index target_state_assigned on target_state (tenant_id, assigned_set_id) where assigned_set_id is not null;
create index target_state_installed on target_state (tenant_id, installed_set_id) where installed_set_id is not null;
create index target_state_status on target_state (tenant_id, update_status, target_id);

-- One narrow row per target, rewritten at every flush of last polls (about once a second, in bulk).
create table target_polls (
  tenant_id    int not null,
  target_id    int not null,
  last_poll_at timestamptz not null,
  poll_bucket  int generated always as ((extract(epoch from last_poll_at at time zone 'UTC'))::bigint / 3600) stored, -- coarse, indexed: most updates stay HOT
  primary key (tenant_id, target_id),
  foreign key (tenant_id, target_id) references targets on delete cascade
) with (fillfactor = 50);
create index target_polls_bucket on target_polls (tenant_id, poll_bucket);

-- What devices send about themselves (contract device.md §4).
create table target_attributes (
  tenant_id    int not null,
  target_id    int not null,
  key          text not null,
  value        text not null,
  primary key (tenant_id, target_id, key),
  foreign key (tenant_id, target_id) references targets on delete cascade
);
create index target_attributes_search on target_attributes (tenant_id, lower(key), lower(value) text_pattern_ops, target_id);
-- A value may be common under one key and rare under another; taken one by one they say nothing about that.
create statistics target_attributes_pairs (mcv) on lower(key), lower(value) from target_attributes;

-- Metadata that administrators give targets (spec 001 §2.4); devices see none of it.
create table target_metadata (
  tenant_id int not null,
  target_id int not null,
  key       text not null check (length(key) between 1 and 128),
  value     text check (length(value) <= 4000),
  primary key (tenant_id, target_id, key),
  foreign key (tenant_id, target_id) references targets on delete cascade
);
-- As attributes are searched, by the first characters of the value: the whole may be longer than an index takes.
create index target_metadata_search
  on target_metadata (tenant_id, lower(key), left(lower(value), 200) text_pattern_ops, target_id);
create statistics target_metadata_pairs (mcv) on lower(key), left(lower(value), 200) from target_metadata;

-- Which targets have which tags (spec 001 §2.7). The tags themselves are management's; a link to a tag that is gone shows nowhere and
-- is swept away.
create table target_tag_links (
  tenant_id int not null,
  target_id int not null,
  tag_id    bigint not null,
  primary key (tenant_id, target_id, tag_id),
  foreign key (tenant_id, target_id) references targets on delete cascade
);
create index target_tag_links_tag on target_tag_links (tenant_id, tag_id, target_id);

-- A row: the target confirms its actions by itself (contract device.md §5.5).
create table auto_confirmations (
  tenant_id    int not null,
  target_id    int not null,
  initiator    text,
  remark       text,
  created_by   text not null,
  activated_at timestamptz not null default now(),
  primary key (tenant_id, target_id),
  foreign key (tenant_id, target_id) references targets on delete cascade
);

-- Targets that come in pieces and are created together (contract extensions.md, targets as CSV). A row shows nowhere; what nobody has
-- finished is swept away.
create table target_imports (
  tenant_id     int not null,
  import_id     text not null check (length(import_id) <= 128),
  line          int not null,
  id            int not null,
  controller_id text not null,
  name          text not null,
  description   text,
  address       text,
  token_digest  bytea not null,
  token_cipher  bytea not null,
  type_id       bigint,
  problem       text,
  at            timestamptz not null default now(),
  primary key (tenant_id, import_id, line)
);
create index target_imports_at on target_imports (at);

-- How many targets a tenant has, in slots: whoever adds or removes targets counts in the slot of its connection, so that first contacts do
-- not queue for one row. Written by triggers (functions/targets.sql), once per statement and not per row (contract management.md §9).
create table target_counts (
  tenant_id int not null,
  slot      smallint not null,
  n         bigint not null,              -- a slot alone may be negative; their sum is exact
  primary key (tenant_id, slot)
) with (fillfactor = 50);

-- What the targets of a tenant use of their quotas: the highest of any of them. Found by a walk that reads a thousand targets a second, so
-- that reports and assignments need not keep it, and no reader reads a whole fleet (contract management.md §10.3).
create table target_usage (
  tenant_id      int not null primary key,
  cursor_id      int not null default -1,    -- the walk stands behind this target
  due_at         timestamptz not null default now(),
  attributes     int not null default 0,     -- of the last whole walk
  actions        int not null default 0,
  status_entries int not null default 0,
  messages       int not null default 0,     -- of one entry, in the history of each target's newest action
  so_far         int[] not null default '{0,0,0,0}' -- the same of the walk that is on its way
);

-- Actions

-- No foreign key to targets: the key share lock of that check cost more than the insert itself (27 of 47 µs per action). It is not missed:
-- actions are only inserted under the lock of the target's state row, and a target is only deleted under that lock, with its actions.
create table actions (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  target_id        int not null,
  controller_id    text not null,                 -- immutable copy: events and links without a join
  set_id           bigint not null,
  status           smallint not null,
  active           boolean not null,
  force_type       smallint not null,             -- 0 soft 1 forced 2 timeforced 3 downloadonly
  force_time       timestamptz,
  weight           int not null default 1000,
  migration_step   boolean not null default false, -- the set's requiredMigrationStep at assignment (frozen with it)
  rollout_id       bigint,
  group_id         bigint,
  last_status_code int,
  initiated_by     text not null,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,         -- = number of history rows = sequence of the newest event
  -- The first three are given together or not at all (contract device.md §3.5). The schedule is a Quartz expression, evaluated by the service.
  maintenance_schedule text,
  maintenance_duration text,
  maintenance_timezone text,
  maintenance_ends_at  timestamptz,                -- when its last window ends; null: it has no last one, or the action has no window
  -- Given while several actions of a target could be open: its end does not speak for the whole target (src/domain/transitions.ts,
  -- effectsWithMultiAssignment).
  multi_assignment    boolean not null default false,
  -- For the index actions_scheduled. A condition on the status itself would cost each report that changes the status a new entry in every index of
  -- this table: PostgreSQL compares the values of the columns that a condition names, not what it comes to.
  scheduled           boolean generated always as (status = 8) stored,
  -- Safe rollouts (contract beyond.md §1 to §3); see action_policies.
  policy_id           int,                         -- null: none, and nothing below ever changes
  tally               smallint not null default 0, -- how it counts beside its status: 0 as the status says, 1 proving, 2 void, 3 silent, 4 retrying
  outcome             smallint,                    -- how its proof ended, and by what (packages/contracts/src/codes.ts); it stays when the watch goes
  attempt             smallint not null default 1,
  retry_of            bigint,                      -- the first attempt
  retried_by          bigint,                      -- the next attempt, which counts instead of this one
  primary key (tenant_id, id)
) with (fillfactor = 70);
-- Of the attempts for one target only the last one counts, and is the one that a repeated chunk meets.
create unique index actions_rollout_attempt on actions (tenant_id, rollout_id, target_id) where rollout_id is not null and retried_by is null;
create index actions_target on actions (tenant_id, target_id, id);
create index actions_open on actions (tenant_id, target_id, weight desc, id) where active;
create index actions_group on actions (tenant_id, rollout_id, group_id, target_id) where rollout_id is not null;
create index actions_scheduled on actions (tenant_id, target_id) where scheduled;  -- superseding scheduled ones
-- Actions of a set are walked in the order of their ids, chunk by chunk; by set alone they would have to be sorted for every chunk.
create index actions_of_set on actions (tenant_id, set_id, id);
-- Whether a target ever had a set: asked for every target of a fleet, pass after pass (contract management.md §5.8). An index that knows
-- the set alone would be walked from end to end for each of them, as soon as the statistics are older than the actions.
create index actions_set_target on actions (tenant_id, set_id, target_id);

-- One row per change of an action. Append-only. (action, revision) is also the event's identity.
create table action_history (
  tenant_id   int not null,
  action_id   bigint not null,
  revision    int not null,
  status      smallint not null,        -- the entry's own status (may differ from the action's: DOWNLOAD, WARNING…)
  messages    text[] not null default '{}',
  code        int,
  occurred_at timestamptz not null,     -- the device's clock where it gave one
  reported_at timestamptz not null default now(),
  primary key (tenant_id, action_id, revision, reported_at)
) partition by range (reported_at);
create table action_history_default partition of action_history default;

-- How far the walk over a tenant's closed actions has come (contract rollouts.md §6.7, §6.10); a row since the tenant has rules.
create table action_cleanups (
  tenant_id int not null primary key,
  cursor_id bigint not null default -1,          -- the walk stands behind this action
  due_at    timestamptz not null default now()
);

-- Safe rollouts
--
-- How a success is proven, when an action counts as silent, and when it is tried again (contract beyond.md §1 to §3). Without a policy no row of
-- these tables exists, and the last columns of an action stay as they are.

-- Policies with everything resolved, kept once for all actions that name them. They never change.
create table action_policies (
  tenant_id int not null,
  id        int generated always as identity,
  digest    bytea not null,              -- sha256 of the text that was given: look-up
  body      jsonb not null,              -- ResolvedPolicy of packages/contracts/src/safety-policy.ts
  primary key (tenant_id, id),
  unique (tenant_id, digest)
);

-- What is awaited of an action: a row while there is something to wait for. Whoever decides about it holds the lock of the target's state; only polls are
-- counted without, and skip rows that are locked. There is no foreign key to targets, as with actions.
create table action_watches (
  tenant_id       int not null,
  action_id       bigint not null,
  target_id       int not null,
  policy_id       int not null,
  stage           smallint not null,     -- 1 notFetched 2 downloading 3 installing 4 rebooting 5 observing 6 watched 7 retryWait
  silent          boolean not null default false,
  wants_polls     boolean not null default false, -- polls count, from counts_from on
  polls           smallint not null default 0,
  polls_wanted    smallint not null default 0,
  previous_set_id bigint,                -- installed before: refuted later, the target has it again
  began_at        timestamptz not null default now(),
  since           timestamptz not null default now(), -- begin of the stage
  claimed_at      timestamptz,
  counts_from     timestamptz,
  evidence_at     timestamptz,
  due_at          timestamptz,           -- null: no clock runs
  primary key (tenant_id, action_id)
) with (fillfactor = 70);
create index action_watches_due on action_watches (tenant_id, due_at) where due_at is not null;
create index action_watches_target on action_watches (tenant_id, target_id);
create index action_watches_polls on action_watches (tenant_id, target_id) where wants_polls;

-- Rollouts

-- Progress of rollout groups: every change of an action's bucket, one row for a whole chunk. Folded in the background.
create table group_deltas (
  tenant_id   int not null,
  rollout_id  bigint not null,
  group_id    bigint not null,
  from_bucket smallint,                 -- null: the action is new
  to_bucket   smallint,                 -- null: the action is gone
  n           int not null,
  txid        xid8 not null default pg_current_xact_id(),
  id          bigint generated always as identity,
  at          timestamptz not null default now()
) partition by range (at);
create table group_deltas_default partition of group_deltas default;
create index group_deltas_order on group_deltas (txid, id);
-- The unfolded tail of one rollout is read by key alone, however many deltas it has gathered (group_progress_v1).
create index group_deltas_tail on group_deltas (tenant_id, rollout_id, txid, id);

create table group_progress (
  tenant_id  int not null,
  rollout_id bigint not null,
  group_id   bigint not null,
  bucket     smallint not null,         -- 0 scheduled 1 running 2 finished 3 error 4 cancelled
  n          bigint not null,
  primary key (tenant_id, rollout_id, group_id, bucket)
);

create table group_progress_folded (    -- everything before this position is inside group_progress
  one  boolean primary key default true check (one),
  txid xid8 not null default '0',
  id   bigint not null default 0
);
insert into group_progress_folded default values;

-- How the progress of rollouts has changed over time (contract console.md §2): what each bucket gained or lost in a minute, in an hour where that is more
-- than a day ago, and in a day where it is more than thirty days ago. It is written with the fold of the deltas, so reports of devices pay nothing for it.
create table rollout_progress (
  tenant_id  int not null,
  rollout_id bigint not null,
  minute     int not null,              -- minutes since 1970-01-01 UTC, of the beginning
  bucket     smallint not null,         -- as in group_progress
  n          bigint not null,
  primary key (tenant_id, rollout_id, minute, bucket)
);
-- What is to become coarser: minutes that begin no hour, hours that begin no day.
create index rollout_progress_minutes_due on rollout_progress (minute) where minute % 60 <> 0;
create index rollout_progress_hours_due on rollout_progress (minute) where minute % 1440 <> 0;

-- Why actions of rollouts have failed (contract console.md §2): failures with the same code and folded message, by group and type of target. The
-- background work of functions/insights.sql adds them up from the outbox, so reports of devices pay nothing for them.
create table rollout_failures (
  tenant_id  int not null,
  rollout_id bigint not null,
  key        uuid not null,               -- hash of code and message
  group_id   bigint not null,
  type_id    bigint not null,             -- of the targets when it was added up, 0 for those without a type
  code       int,                         -- null: the device has given none
  message    text,                        -- null: the device has given none, or these are the others
  others     boolean not null default false, -- all that is beyond the number of rows a rollout may have
  n          bigint not null,
  first_at   timestamptz not null,
  last_at    timestamptz not null,
  sample     text[] not null,             -- controllerIds of the first ten
  primary key (tenant_id, rollout_id, key, group_id, type_id)
);

-- A late or doubled call of a stopped rollout must revive nothing.
create table rollout_fences (
  tenant_id  int not null,
  rollout_id bigint not null,
  epoch      bigint not null,
  open       boolean not null,
  primary key (tenant_id, rollout_id)
);

-- Insights
--
-- What insights show of targets and actions (contract management.md §10.6). The background work of functions/insights.sql writes these tables from
-- the outbox and by walks over the fleet; reports of devices pay nothing for them.

-- What happened in a month (UTC). `targets_found` are the targets of the time before the counting that were still there when it began.
create table monthly_counts (
  tenant_id        int not null,
  month            date not null,         -- its first day
  targets_created  bigint not null default 0,
  targets_deleted  bigint not null default 0,
  targets_found    bigint not null default 0,
  actions_created  bigint not null default 0,
  actions_finished bigint not null default 0,
  actions_error    bigint not null default 0,
  actions_canceled bigint not null default 0,
  primary key (tenant_id, month)
);

-- Everything of the outbox before this position is in monthly_counts, as far as it happened since the counting began.
create table monthly_counts_folded (
  one        boolean primary key default true check (one),
  began_at   timestamptz not null default now(),
  began_txid xid8 not null default pg_current_xact_id(),
  txid       xid8 not null default '0',
  id         bigint not null default 0,
  -- What is known of the time before is read once, in the order of these keys.
  found_target_tenant int not null default -1,
  found_target_id     int not null default -1,
  found_action_tenant int not null default -1,
  found_action_id     bigint not null default -1,
  found_all           boolean not null default false
);
insert into monthly_counts_folded default values;

-- Targets of a tenant now, as the last whole walk over them has counted them; `so_far` is the walk that is on its way.
create table fleet_counts (
  tenant_id int not null,
  kind      smallint not null,            -- 0: by update status 1: by installed set 2: by assigned set 3: overdue
  key       bigint not null,              -- the update status or the id of the set; 0 for overdue
  type_id   bigint not null,              -- of the targets, 0 for those without a type
  n         bigint not null default 0,
  so_far    bigint not null default 0,
  primary key (tenant_id, kind, key, type_id)
) with (fillfactor = 50);

create table fleet_walks (
  tenant_id  int not null primary key,
  cursor_id  int not null default -1,     -- the walk stands behind this target
  changed    boolean not null default true, -- something has happened to a target since the walk began
  due_at     timestamptz not null default now(),
  rest_until timestamptz not null default now(), -- a change makes it due no earlier
  spent_ms   double precision not null default 0, -- by the walk that is on its way
  counted_at timestamptz                  -- when the last whole walk ended
) with (fillfactor = 50);
create index fleet_walks_due on fleet_walks (due_at);

-- What the targets of a tenant had installed and assigned at the end of each day (contract console.md §1, M19): the last whole walk of a day writes it.
create table fleet_days (
  tenant_id int not null,
  kind      smallint not null,            -- 1: by installed set 2: by assigned set, as in fleet_counts
  day       date not null,                -- UTC
  key       bigint not null,              -- the id of the set; 0 for all beyond the most frequent ones
  type_id   bigint not null,              -- of the targets, 0 for those without a type
  n         bigint not null,
  primary key (tenant_id, kind, day, key, type_id)
) with (fillfactor = 70);

-- The days of which something is known: a tenant may have no target at the end of one.
create table fleet_day_walks (
  tenant_id  int not null,
  day        date not null,
  counted_at timestamptz not null,
  primary key (tenant_id, day)
) with (fillfactor = 70);

-- Commands and events

-- Answers of commands that are not idempotent by their own key: a retry gets the first answer.
create table commands (
  tenant_id  int not null,
  command_id text not null,
  answer     jsonb not null,
  at         timestamptz not null default now(),
  primary key (tenant_id, command_id, at)
) partition by range (at);
create table commands_default partition of commands default;

-- Self-contained: an event needs nothing that may change or vanish later. `items` holds one element per message.
create table outbox (
  id        bigint generated always as identity,
  txid      xid8 not null default pg_current_xact_id(),
  tenant_id int not null,
  topic     text not null,
  type      text not null,
  common    json not null,
  items     json not null,
  traceparent text,
  at        timestamptz not null default now(),
  primary key (id, at)
) partition by range (at);
create table outbox_default partition of outbox default;
create index outbox_order on outbox (txid, id);
-- Deletions of things are told again to a tenant that has missed messages (contract rollouts.md §8.4); they are few among all rows.
create index outbox_deletions_of_things on outbox (tenant_id, txid) where type = 'feed.things-deleted';

-- What the relay has sent: every row that was visible in this snapshot.
create table outbox_cursor (
  one  boolean primary key default true check (one),
  sent pg_snapshot not null default '1:1:'
);
insert into outbox_cursor default values;

-- What gateways must forget. controller_id null: everything of the tenant.
create table credential_changes (
  id            bigint generated always as identity,
  txid          xid8 not null default pg_current_xact_id(),
  tenant_id     int not null,
  controller_id text,
  at            timestamptz not null default now(),
  primary key (id, at)
) partition by range (at);
create table credential_changes_default partition of credential_changes default;
create index credential_changes_order on credential_changes (txid, id);

-- Messages of things

-- Up to where the outbox has been sent to things as messages, and which replica of dmf sends them (apps/dmf). Nobody has held it: nobody reads it, and
-- partitions of the outbox do not wait for it.
create table device_messages_cursor (
  one        boolean primary key default true check (one),
  position   jsonb not null default '{}',
  holder     text,
  held_until timestamptz
);
insert into device_messages_cursor default values;

-- Messages of things that were refused (contract rollouts.md §8.6): how many of each kind, and the last one. One row for each kind that a tenant has had.
create table message_refusals (
  tenant_id   int not null,
  kind        text not null check (length(kind) between 1 and 32),
  n           bigint not null,
  last_at     timestamptz not null,
  last_reason text not null check (length(last_reason) <= 300),
  primary key (tenant_id, kind)
);

-- Status of the system

-- The running processes of the service, for the status of the system (contract console.md §3). Each writes its own row every 30 seconds.
create table nodes (
  id                   text primary key,        -- of the process, new at each start
  service              text not null,
  host                 text not null,
  version              text not null,
  started_at           timestamptz not null,
  seen_at              timestamptz not null,
  migration            text,                    -- the newest that the schema has
  outbox_waiting_since timestamptz,             -- null: no event waits for Kafka
  jobs                 jsonb not null check (jsonb_typeof(jobs) = 'array')
) with (fillfactor = 50);
