-- expand
-- Grants that are restricted to target types, for users and for roles. They stand apart from `permissions`, which replicas of the version
-- before read as unrestricted: for those a restricted grant is none.

alter table users add column scoped_permissions jsonb not null default '{}'; -- {"READ_TARGET": [11, 12]}; no element: no target type

create table roles (
  tenant_id          int not null,
  id                 bigint not null,            -- 1: SYSTEM_ADMIN, in every tenant
  name               text not null check (length(name) between 1 and 128),
  permissions        text[] not null default '{}',
  scoped_permissions jsonb not null default '{}',
  system_managed     boolean not null default false,
  created_by         text not null,
  created_at         timestamptz not null default now(),
  last_modified_by   text not null,
  last_modified_at   timestamptz not null default now(),
  revision           int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index roles_name on roles (tenant_id, name);

-- The predefined role of every tenant. Its permissions are all that the running version knows, so none are stored.
insert into roles (tenant_id, id, name, system_managed, created_by, last_modified_by)
select tenant_id, 1, 'SYSTEM_ADMIN', true, 'system', 'system' from tenants;
