-- expand
-- Safety policies by name, and what the targets of a type show when they run a set (contract beyond.md §1.1, §1.2).
create table safety_policies (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  name             text not null check (length(name) between 1 and 64 and lower(name) <> 'none'),
  description      text check (length(description) <= 512),
  safety           jsonb not null,           -- as it was sent: members that are absent follow the defaults where it is used
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index safety_policies_name on safety_policies (tenant_id, lower(name));

alter table target_types add column evidence jsonb not null default '[]';
