-- expand
-- The schema of rollout-engine: rollouts with their groups, members and steps, target filters with their auto-assignments, and the leases of the
-- workers. Published views are in ../views. The audit trail is in a schema of its own, which packages/db makes.
--
-- The tenant leads every key, so that tenants can be spread over databases later.

-- Ids

create table id_counters (
  tenant_id int not null,
  kind      text not null,              -- 'rollout', 'group' or 'filter'
  next_id   bigint not null default 11, -- one real client misreads shorter ids, and all stay below 2^31
  primary key (tenant_id, kind)
);

-- Rollouts

create table rollouts (
  tenant_id          int not null,
  id                 bigint not null check (id < 2147483648),
  name               text not null check (length(name) between 1 and 128),
  description        text,
  status             text not null check (status in ('creating', 'ready', 'waiting_for_approval', 'approval_denied', 'starting', 'running',
                                                     'paused', 'finished', 'stopping', 'stopped', 'deleting', 'deleted')),
  deleted            boolean not null default false,
  target_filter      text not null,
  -- What management answered when it reserved the set is kept with the rollout, so that nobody has to be asked again.
  set_id             bigint not null,
  set_name           text not null,
  set_version        text not null,
  set_type_id        bigint not null,
  migration_step     boolean not null,
  force_type         smallint not null,              -- 0 soft, 1 forced, 2 timeforced, 3 downloadonly
  force_time         bigint not null default 0,      -- epoch in ms, kept whatever the type is
  weight             int not null default 1000,
  maintenance_window jsonb,                          -- {schedule, duration, timezone} of its actions; null: any time
  start_at           timestamptz,
  total_targets      int not null default 0,
  -- Whoever is restricted to target types sees and drives the rollouts that reach these types alone.
  target_types       bigint[],                       -- types that its creator was restricted to: all its members are of these; null: of any
  reached_types      bigint[],                       -- types of its members, 0 for those without a type; null until the members are frozen
  -- Approval (contract rollouts.md §4.11).
  creator_approves   boolean not null default false, -- its creator may approve rollouts, so it needs nobody's approval
  approve_decided_by text,
  approval_remark    text,
  -- Dynamic rollouts (contract rollouts.md §4.6): targets join the last group for as long as the rollout runs.
  dynamic            boolean not null default false,
  dynamic_suffix     text not null default '',       -- ends the names of the dynamic groups
  -- Stopping (contract rollouts.md §4.1, §4.9).
  keep_running       boolean not null default false, -- actions that have begun go on: only the others are taken back
  stop_cursor        int not null default -1,        -- the last target whose action was stopped: another engine goes on here if this one dies
  -- Fencing and events.
  epoch              bigint not null default 0,      -- grows at every start: controller's fence denies calls of an older one
  fenced_epoch       bigint not null default 0,      -- the epoch whose fence controller has confirmed
  sequence           int not null default 0,         -- the sequence of this rollout's newest event
  created_by         text not null,
  created_at         timestamptz not null default now(),
  last_modified_by   text not null,
  last_modified_at   timestamptz not null default now(),
  revision           int not null default 1,
  status_step        int,                            -- the step that led to the present status: a list needs one row of rollout_steps per rollout
  started_at         timestamptz,
  finished_at        timestamptz,
  -- The safety policy of its actions, with every default in place, as it was when it was created (contract beyond.md §1.1). Null: none.
  safety             jsonb,
  primary key (tenant_id, id)
);
create unique index rollouts_name on rollouts (tenant_id, name);
create index rollouts_set on rollouts (tenant_id, set_id);
create index rollouts_filled on rollouts (tenant_id, id) where dynamic and status = 'running';
-- The job due-work looks for rollouts under way ten times a second, however many rollouts are over.
create index rollouts_under_way on rollouts (status)
  where status not in ('ready', 'waiting_for_approval', 'approval_denied', 'finished', 'stopped', 'deleted');
-- The search of all entities by the beginning of their names (contract console.md §3): names are folded and compared as bytes, as those of targets are.
create index rollouts_name_folded on rollouts (tenant_id, lower(name) text_pattern_ops, id desc) where not deleted;

-- Groups and members

create table rollout_groups (
  tenant_id                 int not null,
  rollout_id                bigint not null,
  id                        bigint not null check (id < 2147483648),
  position                  int not null,                -- 0, 1, 2 … in the order in which groups start
  name                      text not null check (length(name) between 1 and 128),
  description               text,
  status                    text not null check (status in ('creating', 'ready', 'scheduled', 'running', 'finished', 'error')),
  dynamic                   boolean not null default false,
  target_filter             text not null default '',
  target_percentage         real not null,
  target_count              int,                         -- of a dynamic group: how many targets it takes
  confirmation_required     boolean not null,
  success_condition         text not null,
  success_expression        text not null,
  success_action            text not null,
  success_action_expression text not null,
  error_condition           text not null,
  error_expression          text not null,
  error_action              text not null,
  error_action_expression   text not null,
  total_targets             int not null default 0,
  -- How far the work on the group has come: another engine goes on here if this one dies.
  last_ordinal              bigint not null default -1,  -- of a dynamic group: its newest member; ahead of schedule_cursor until that has its action
  schedule_cursor           bigint not null default -1,  -- the last ordinal that has its action
  start_cursor              bigint not null default -1,  -- the last target whose action was started
  started                   boolean not null default false, -- every action of the group has left SCHEDULED
  start_requested           boolean not null default false, -- the group is next: it starts as soon as it is scheduled
  created_by                text not null,
  created_at                timestamptz not null default now(),
  last_modified_by          text not null,
  last_modified_at          timestamptz not null default now(),
  revision                  int not null default 1,
  started_at                timestamptz,
  finished_at               timestamptz,
  primary key (tenant_id, rollout_id, id),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);
create unique index rollout_groups_position on rollout_groups (tenant_id, rollout_id, position);
create unique index rollout_groups_name on rollout_groups (tenant_id, rollout_id, name);

-- The members of a rollout are frozen in one statement and never changed. The key is the order in which controller walks a group, so that the
-- walk needs neither a sort nor statistics. There is no foreign key: it would look a group up for every one of a million rows.
create table group_members (
  tenant_id  int not null,
  rollout_id bigint not null,
  group_id   bigint not null,
  ordinal    int not null,               -- 0, 1, 2 … through the whole rollout, groups one after the other
  target_id  int not null,               -- a target of controller.targets_v1
  primary key (tenant_id, rollout_id, group_id, ordinal)
);

-- Candidates of a rollout whose groups have filters of their own, during its freeze. The table is empty outside of that transaction, hence unlogged.
create unlogged table freeze_candidates (
  tenant_id  int not null,
  rollout_id bigint not null,
  target_id  int not null,
  matches    boolean[] not null,         -- an element for each distinct filter of the groups
  group_id   bigint,
  primary key (tenant_id, rollout_id, target_id)
);

-- Steps

-- What has happened to rollouts and their groups, one row per change of a status (contract console.md §2, timeline). A row is written by the
-- statement that changes the status and has the sequence of its event, so nothing has to be derived from events later.
create table rollout_steps (
  tenant_id       int not null,
  rollout_id      bigint not null,
  sequence        int not null,
  group_id        bigint,                 -- null: of the rollout itself
  previous_status text,                   -- null: it was created
  status          text not null,
  reason          text,
  caused_by       bigint,                 -- the group that caused a change of the rollout
  value           real,                   -- what was compared with `threshold`, in its unit (percent of the group, or groups)
  threshold       real,
  actor           text not null,
  remark          text,
  total_targets   int,
  counts          jsonb,                  -- actions by bucket at that moment; null: it had none yet
  at              timestamptz not null default now(),
  primary key (tenant_id, rollout_id, sequence),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);

-- Insights

-- How many rollouts were created in a month (UTC), whatever has become of them (contract management.md §10.6).
create table rollout_months (
  tenant_id int not null,
  month     date not null,                -- its first day
  created   bigint not null,
  primary key (tenant_id, month)
);

-- Since when they are counted.
create table rollout_months_start (
  one      boolean primary key default true check (one),
  began_at timestamptz not null default now()
);
insert into rollout_months_start default values;

-- Target filters and auto-assignments

-- An auto-assignment is a target filter that assigns a set. One that was created as an auto-assignment is in no list of filters.
create table target_filters (
  tenant_id                int not null,
  id                       bigint not null check (id < 2147483648),
  name                     text not null check (length(name) between 1 and 128),
  description              text check (length(description) <= 512),
  query                    text not null check (length(query) between 1 and 1024), -- macros are kept as written, and get their values at each run
  standalone               boolean not null default false, -- was created as an auto-assignment, not as a filter
  -- Null: the filter assigns none. Nor does it assign a set that is deleted or invalidated: readers ask management.distribution_sets_v1.
  auto_assign_set_id       bigint,
  auto_assign_type         smallint,              -- 0 soft, 1 forced, 3 downloadonly
  auto_assign_weight       int,
  auto_assign_confirmation boolean,
  auto_assign_window       jsonb,                 -- {schedule, duration, timezone} of its actions; null: any time
  auto_assign_types        bigint[],              -- target types that `auto_assign_by` was restricted to; null: not restricted
  auto_assign_by           text,                  -- who set it: the initiator of its actions
  -- One that is paused, waits for approval or was denied it (`auto.assignment.approval.enabled`, contract management.md §8.1) is not worked on.
  -- `ready` waits for auto_assign_start_at; from then on it counts as `running` without being written.
  auto_assign_status       text not null default 'running'
                           check (auto_assign_status in ('running', 'waiting_for_approval', 'approval_denied', 'ready', 'paused')),
  auto_assign_start_at     timestamptz,
  auto_assign_decided_by   text,
  auto_assign_remark       text,
  auto_assign_epoch        bigint not null default 0, -- grows with every change of query, set or status: work that was begun before it is void
  created_by               text not null,
  created_at               timestamptz not null default now(),
  last_modified_by         text not null,
  last_modified_at         timestamptz not null default now(),
  revision                 int not null default 1,
  auto_assign_safety       jsonb,                 -- the safety policy of its actions, as that of a rollout; null: none
  primary key (tenant_id, id),
  check ((auto_assign_set_id is null) = (auto_assign_type is null))
);
create unique index target_filters_name on target_filters (tenant_id, name);
create index target_filters_set on target_filters (tenant_id, auto_assign_set_id) where auto_assign_set_id is not null;
create index target_filters_name_folded on target_filters (tenant_id, lower(name) text_pattern_ops, id desc) where not standalone;

-- The targets that a pass has found, a limited number at a time, in the order in which controller walks them. There is no foreign key: it would
-- look the filter up for every row; whoever deletes a filter deletes them too.
create table auto_assign_candidates (
  tenant_id int not null,
  filter_id bigint not null,
  pass      bigint not null,
  target_id int not null,
  primary key (tenant_id, filter_id, pass, target_id)
);

-- Leases

-- Which rollouts are due for work, and which engine works on them: one row per rollout as long as it lives.
create table leases (
  tenant_id  int not null,
  rollout_id bigint not null,
  due_at     timestamptz not null default now(), -- 'infinity': there is nothing to do until a notification comes
  cooldown_until  timestamptz not null default now(), -- reports of devices make it due no earlier, as they would undo the back-off
  notifications       bigint not null default 0,          -- counts the notifications, so that one that comes during the work is not lost
  owner      uuid,
  until      timestamptz,                        -- the owner's claim ends here unless it is renewed
  last_claimed_at  timestamptz,                        -- when it was claimed last: the tenant whose last claim is longest ago is next
  attempts   int not null default 0,             -- failures in a row
  last_error text,                               -- is shown on the rollout, as the reason why it does not get on
  failed_at  timestamptz,                        -- the time of last_error
  primary key (tenant_id, rollout_id),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);
create index leases_due on leases (due_at);
create index leases_last_claimed on leases (tenant_id, last_claimed_at desc nulls last);
create index leases_held on leases (tenant_id) where owner is not null;

-- Which dynamic rollouts are due for new targets: one row per dynamic rollout as long as it lives.
create table dynamic_leases (
  tenant_id  int not null,
  rollout_id bigint not null,
  due_at     timestamptz not null default now(),
  cooldown_until  timestamptz not null default now(), -- a notification makes it due no earlier: scans of a large fleet need a cooldown between them
  notifications       bigint not null default 0,          -- counts the notifications, so that one that comes during the work is not lost
  idle       int not null default 0,             -- scans in a row that found no target
  owner      uuid,
  until      timestamptz,                        -- the owner's claim ends here
  last_claimed_at  timestamptz,                        -- when it was claimed last: the tenant whose last claim is longest ago is next
  attempts   int not null default 0,             -- failures in a row
  last_error text,
  failed_at  timestamptz,
  primary key (tenant_id, rollout_id),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);

-- Which auto-assignments are due: one row per filter that has ever assigned a set, as long as the filter lives.
create table auto_assign_leases (
  tenant_id   int not null,
  filter_id   bigint not null,
  due_at      timestamptz not null default now(),
  cooldown_until   timestamptz not null default now(), -- a notification makes it due no earlier: scans of a large fleet need a cooldown between them
  notifications        bigint not null default 0,          -- counts the notifications, so that one that comes during the work is not lost
  passes      bigint not null default 0,          -- grows with every claim: each has candidates of its own
  progress    int not null default -1,            -- the pass goes on behind this target
  idle        int not null default 0,             -- passes in a row that found no target
  owner       uuid,
  until       timestamptz,                        -- the owner's claim ends here
  last_claimed_at   timestamptz,                        -- when it was claimed last: the tenant whose last claim is longest ago is next
  attempts    int not null default 0,             -- failures in a row
  last_error  text,
  failed_at   timestamptz,
  primary key (tenant_id, filter_id),
  foreign key (tenant_id, filter_id) references target_filters on delete cascade
);
create index auto_assign_leases_due on auto_assign_leases (due_at);
create index auto_assign_leases_last_claimed on auto_assign_leases (tenant_id, last_claimed_at desc nulls last);
create index auto_assign_leases_held on auto_assign_leases (tenant_id) where owner is not null;

-- Change feeds of controller

-- How far controller.group_changes_v1 has been read. Nothing can commit any more up to `txid, id`. All that was visible up to `seen_txid, seen_id`
-- has made its rollouts due early; what commits late between the two does so when the first position passes it.
create table progress_cursor (
  one       boolean primary key default true check (one),
  txid      xid8 not null default '0',
  id        bigint not null default 0,
  seen_txid xid8 not null default '0',
  seen_id   bigint not null default 0
);
insert into progress_cursor default values;

-- How far controller.fleet_changes_v1 has been read.
create table fleet_cursor (
  one  boolean primary key default true check (one),
  txid xid8 not null default '0',
  id   bigint not null default 0
);
insert into fleet_cursor default values;

-- Events

-- Events are self-contained: they need nothing that may change or vanish later. `items` holds one element per message.
create table outbox (
  id          bigint generated always as identity,
  txid        xid8 not null default pg_current_xact_id(),
  tenant_id   int not null,
  topic       text not null,
  type        text not null,
  common      json not null,
  items       json not null,
  traceparent text,
  at          timestamptz not null default now(),
  primary key (id, at)
) partition by range (at);
create table outbox_default partition of outbox default;
create index outbox_order on outbox (txid, id);

-- The relay has sent every event that was visible in the snapshot `sent`.
create table outbox_cursor (
  one  boolean primary key default true check (one),
  sent pg_snapshot not null default '1:1:'
);
insert into outbox_cursor default values;

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
