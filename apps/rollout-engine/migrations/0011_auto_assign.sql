-- expand
-- The engine of auto-assignments: which filters need a look and who is looking, and whom the last look has found.

-- One row per filter that assigned a set at some time, as long as the filter lives.
create table auto_assign_leases (
  tenant_id   int not null,
  filter_id   bigint not null,
  due_at      timestamptz not null default now(),
  rested_at   timestamptz not null default now(), -- a ring is heard no earlier: a look at a large fleet must not follow the one before at once
  rung        bigint not null default 0,          -- counts the rings, so that one during the work is not lost
  passes      bigint not null default 0,          -- grows with every claim: each has candidates of its own
  progress    int not null default -1,            -- the pass goes on behind this target
  idle        int not null default 0,             -- passes in a row that found nobody
  owner       uuid,
  until       timestamptz,                        -- the owner's claim ends here
  attempts    int not null default 0,             -- failures in a row
  last_error  text,
  primary key (tenant_id, filter_id),
  foreign key (tenant_id, filter_id) references target_filters on delete cascade
);
create index auto_assign_leases_due on auto_assign_leases (due_at);
insert into auto_assign_leases (tenant_id, filter_id) select tenant_id, id from target_filters where auto_assign_set_id is not null;

-- Whom a pass has found, a bounded number at a time, in the order in which controller walks them. No foreign key: it would look the filter
-- up for every row; whoever deletes a filter deletes them too.
create table auto_assign_candidates (
  tenant_id int not null,
  filter_id bigint not null,
  pass      bigint not null,
  target_id int not null,
  primary key (tenant_id, filter_id, pass, target_id)
);

-- How far controller.fleet_changes_v1 has rung.
create table fleet_cursor (
  one  boolean primary key default true check (one),
  txid xid8 not null default '0',
  id   bigint not null default 0
);
insert into fleet_cursor default values;
