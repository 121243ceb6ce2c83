-- expand
-- How many rollouts were created in a month (UTC), whatever has become of them (contract management.md §10.6).
create table rollout_months (
  tenant_id int not null,
  month     date not null,                -- its first day
  created   bigint not null,
  primary key (tenant_id, month)
);

-- Since when they are counted. Of the time before, the rollouts count that are still there.
create table rollout_months_start (
  one      boolean primary key default true check (one),
  began_at timestamptz not null default now()
);
insert into rollout_months_start default values;
insert into rollout_months (tenant_id, month, created)
select tenant_id, date_trunc('month', created_at at time zone 'UTC')::date, count(*) from rollouts group by 1, 2;
