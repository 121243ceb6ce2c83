-- expand
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
