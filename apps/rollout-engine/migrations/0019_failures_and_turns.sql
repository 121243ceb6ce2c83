-- expand
-- Why a rollout or an auto-assignment does not get on is shown on it, with the time of the newest failure; and tenants take turns.

alter table leases
  add column failed_at timestamptz,                      -- of last_error
  add column rested_at timestamptz not null default now(), -- devices ring no earlier: their reports must not undo the back-off
  add column turned_at timestamptz;                      -- when it was taken last: the tenant whose last turn is longest ago is next

create index leases_turns on leases (tenant_id, turned_at desc nulls last);
create index leases_held on leases (tenant_id) where owner is not null;

alter table auto_assign_leases
  add column failed_at timestamptz,
  add column turned_at timestamptz;

create index auto_assign_leases_turns on auto_assign_leases (tenant_id, turned_at desc nulls last);
create index auto_assign_leases_held on auto_assign_leases (tenant_id) where owner is not null;
