-- expand
-- Everything a device is and does. Tenant first in every key: tenants can be spread over databases later.
-- Codes of smallint columns live in src/domain/codes.ts; the report function is generated from them.

create table id_counters (
  tenant_id int not null,
  kind      text not null,             -- 'action', 'target'
  next_id   bigint not null default 11, -- ids a device sees start at 11 (one real client misreads shorter ones) and stay below 2^31
  primary key (tenant_id, kind)
);

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
  created_by      text not null,
  created_at      timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision        int not null default 1,
  primary key (tenant_id, id)
);
create unique index targets_controller_id on targets (tenant_id, controller_id);
create index targets_name on targets (tenant_id, lower(name) text_pattern_ops);
create index targets_controller_id_folded on targets (tenant_id, lower(controller_id) text_pattern_ops);
create index targets_type on targets (tenant_id, target_type_id) where target_type_id is not null;
create index targets_created on targets (tenant_id, created_at);

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

-- One narrow row per target, rewritten at every flush of poll stamps (about once a second, in bulk).
create table target_polls (
  tenant_id    int not null,
  target_id    int not null,
  last_poll_at timestamptz not null,
  poll_bucket  int generated always as ((extract(epoch from last_poll_at at time zone 'UTC'))::bigint / 3600) stored, -- coarse, indexed: most stamps stay HOT
  primary key (tenant_id, target_id),
  foreign key (tenant_id, target_id) references targets on delete cascade
) with (fillfactor = 50);
create index target_polls_bucket on target_polls (tenant_id, poll_bucket);

create table target_attributes (
  tenant_id    int not null,
  target_id    int not null,
  key          text not null,
  value        text not null,
  primary key (tenant_id, target_id, key),
  foreign key (tenant_id, target_id) references targets on delete cascade
);
create index target_attributes_search on target_attributes (tenant_id, key, lower(value) text_pattern_ops, target_id);

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
  primary key (tenant_id, id),
  foreign key (tenant_id, target_id) references targets on delete cascade
) with (fillfactor = 70);
create unique index actions_rollout_target on actions (tenant_id, rollout_id, target_id) where rollout_id is not null;
create index actions_target on actions (tenant_id, target_id, id);
create index actions_open on actions (tenant_id, target_id, weight desc, id) where active;
create index actions_group on actions (tenant_id, rollout_id, group_id, target_id) where rollout_id is not null;
create index actions_scheduled on actions (tenant_id, target_id) where status = 8;  -- superseding scheduled ones
create index actions_set on actions (tenant_id, set_id);

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
create index group_deltas_rollout on group_deltas (tenant_id, rollout_id, group_id);
create index group_deltas_order on group_deltas (txid, id);

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

-- A late or doubled call of a stopped rollout must revive nothing.
create table rollout_fences (
  tenant_id  int not null,
  rollout_id bigint not null,
  epoch      bigint not null,
  open       boolean not null,
  primary key (tenant_id, rollout_id)
);

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

create table outbox_cursor (
  one  boolean primary key default true check (one),
  txid xid8 not null default '0',
  id   bigint not null default 0
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
