-- expand
-- What the rest of the device interface needs to remember: maintenance windows of actions, and targets that confirm by themselves.

-- All three are given or none (contract device.md §3.5). The schedule is a Quartz expression, evaluated by the service.
alter table actions
  add column maintenance_schedule text,
  add column maintenance_duration text,
  add column maintenance_timezone text,
  add column maintenance_ends_at  timestamptz;  -- when its last window ends; null: it has no last one, or the action has no window

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
