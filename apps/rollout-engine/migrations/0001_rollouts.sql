-- expand
-- Rollouts, their groups and who is in them. Tenant first in every key: tenants can be spread over databases later.

create table id_counters (
  tenant_id int not null,
  kind      text not null,              -- 'rollout', 'group'
  next_id   bigint not null default 11, -- small ids are misread by one real client, and all stay below 2^31
  primary key (tenant_id, kind)
);

create table rollouts (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  name             text not null check (length(name) between 1 and 128),
  description      text,
  status           text not null check (status in ('creating', 'ready', 'waiting_for_approval', 'approval_denied', 'starting', 'running',
                                                   'paused', 'finished', 'stopping', 'stopped', 'deleting', 'deleted')),
  deleted          boolean not null default false,
  dynamic          boolean not null default false,
  target_filter    text not null,
  -- what management answered when it reserved the set; frozen with the rollout, so that nobody has to be asked again
  set_id           bigint not null,
  set_name         text not null,
  set_version      text not null,
  set_type_id      bigint not null,
  migration_step   boolean not null,
  force_type       smallint not null,             -- 0 soft 1 forced 2 timeforced 3 downloadonly
  force_time       bigint not null default 0,     -- epoch ms, kept whatever the type
  weight           int not null default 1000,
  start_at         timestamptz,
  total_targets    int not null default 0,
  epoch            bigint not null default 0,     -- grows at every start: calls for an older one are refused by controller's fence
  fenced_epoch     bigint not null default 0,     -- the epoch whose fence controller has confirmed
  sequence         int not null default 0,        -- sequence of the newest event of this rollout
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id)
);
create unique index rollouts_name on rollouts (tenant_id, name);
create index rollouts_set on rollouts (tenant_id, set_id);

create table rollout_groups (
  tenant_id                 int not null,
  rollout_id                bigint not null,
  id                        bigint not null check (id < 2147483648),
  position                  int not null,                -- 0, 1, 2 … in the order they start
  name                      text not null check (length(name) between 1 and 128),
  description               text,
  status                    text not null check (status in ('creating', 'ready', 'scheduled', 'running', 'finished', 'error')),
  dynamic                   boolean not null default false,
  target_filter             text not null default '',
  target_percentage         real not null,
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
  -- how far the work on the group has come: a killed engine's successor goes on here
  schedule_cursor           bigint not null default -1,  -- last ordinal that has its action
  start_cursor              bigint not null default -1,  -- last target whose action was started
  started                   boolean not null default false, -- every action of the group has left SCHEDULED
  start_requested           boolean not null default false, -- it is this group's turn; it starts as soon as it is scheduled
  created_by                text not null,
  created_at                timestamptz not null default now(),
  last_modified_by          text not null,
  last_modified_at          timestamptz not null default now(),
  revision                  int not null default 1,
  primary key (tenant_id, rollout_id, id),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);
create unique index rollout_groups_position on rollout_groups (tenant_id, rollout_id, position);
create unique index rollout_groups_name on rollout_groups (tenant_id, rollout_id, name);

-- Who is in a rollout, frozen in one statement. Written once, never changed. Its key is the order in which controller walks a group, so
-- that the walk needs neither a sort nor statistics. No foreign key: it would look a group up for every one of a million rows.
create table group_members (
  tenant_id  int not null,
  rollout_id bigint not null,
  group_id   bigint not null,
  ordinal    int not null,               -- 0, 1, 2 … through the whole rollout, groups one after the other
  target_id  int not null,               -- controller.targets_v1
  primary key (tenant_id, rollout_id, group_id, ordinal)
);

-- Candidates of a rollout whose groups have filters of their own, while its freeze runs; empty outside of that transaction, hence unlogged.
create unlogged table freeze_candidates (
  tenant_id  int not null,
  rollout_id bigint not null,
  target_id  int not null,
  matches    boolean[] not null,         -- per distinct filter of the groups
  group_id   bigint,
  primary key (tenant_id, rollout_id, target_id)
);

-- Which rollouts need a look, and who is looking. One row per rollout as long as it lives.
create table leases (
  tenant_id  int not null,
  rollout_id bigint not null,
  due_at     timestamptz not null default now(), -- 'infinity': nothing to do until somebody rings
  rung       bigint not null default 0,          -- counts the rings, so that one during the work is not lost
  owner      uuid,
  until      timestamptz,                        -- the owner's claim ends here unless it is renewed
  attempts   int not null default 0,             -- failures in a row
  last_error text,
  primary key (tenant_id, rollout_id),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);
create index leases_due on leases (due_at);

-- Which changes of controller's groups have rung. Up to `txid, id` nothing can come any more; up to `seen_txid, seen_id` all that was
-- visible has rung early, and what commits late between the two rings when the first position passes it.
create table progress_cursor (
  one       boolean primary key default true check (one),
  txid      xid8 not null default '0',
  id        bigint not null default 0,
  seen_txid xid8 not null default '0',
  seen_id   bigint not null default 0
);
insert into progress_cursor default values;

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
