-- expand
-- Dynamic rollouts (contract rollouts.md §4.6): targets join their last group for as long as they run.

alter table rollouts add column dynamic_suffix text not null default ''; -- ends the names of the dynamic groups
create index rollouts_filled on rollouts (tenant_id, id) where dynamic and status = 'running';

alter table rollout_groups
  add column target_count int,                         -- of a dynamic group: how many targets it takes
  add column last_ordinal bigint not null default -1;  -- of a dynamic group: its newest member; ahead of schedule_cursor until that has its action

-- Which dynamic rollouts need a look at the fleet, and who is looking. One row per dynamic rollout as long as it lives.
create table dynamic_leases (
  tenant_id  int not null,
  rollout_id bigint not null,
  due_at     timestamptz not null default now(),
  rested_at  timestamptz not null default now(), -- a ring is heard no earlier: a look at a large fleet must not follow the one before at once
  rung       bigint not null default 0,          -- counts the rings, so that one during the work is not lost
  idle       int not null default 0,             -- looks in a row that found nobody
  owner      uuid,
  until      timestamptz,                        -- the owner's claim ends here
  attempts   int not null default 0,             -- failures in a row
  last_error text,
  failed_at  timestamptz,
  turned_at  timestamptz,                        -- when it was taken last: the tenant whose last turn is longest ago is next
  primary key (tenant_id, rollout_id),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);
