-- expand
-- Tenants that come and go by the interface (contract extensions.md), and work that goes on after its request was answered.

-- deleting: nobody signs in any more, and what belongs to it is being erased by all owners. The row itself goes last.
alter table tenants drop constraint tenants_status_check;
alter table tenants add constraint tenants_status_check check (status in ('active', 'suspended', 'deleting'));
alter table tenants
  add column description      text check (length(description) <= 512),
  add column created_by       text not null default 'system',
  add column last_modified_by text not null default 'system',
  add column last_modified_at timestamptz not null default now();
update tenants set last_modified_at = created_at;

-- An id is never used again: caches, tokens on their way and events speak of tenants by it. 1 is the operator's own.
create sequence tenant_ids as int minvalue 2;
select setval('tenant_ids', greatest(2, (select max(tenant_id) + 1 from tenants)), false);

-- Operations that callers look at, and that stay readable after their end. They belong to the tenant of who began them.
create table background_operations (
  tenant_id  int not null,
  id         bigint generated always as identity,
  kind       text not null check (length(kind) between 1 and 64),
  subject    text not null,              -- what it is about, for people
  payload    jsonb not null,
  status     text not null default 'waiting' check (status in ('waiting', 'running', 'finished')),
  done       bigint not null default 0,
  total      bigint,                     -- unknown until somebody has counted
  attempts   int not null default 0,     -- failures in a row
  last_error text,
  due_at     timestamptz not null default now(), -- taking an operation moves this ahead: a lease that ends by itself
  created_by text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at   timestamptz,
  primary key (tenant_id, id),
  check ((ended_at is not null) = (status = 'finished'))
);
create index background_operations_due on background_operations (due_at) where ended_at is null;
create index background_operations_ended on background_operations (ended_at) where ended_at is not null;
create unique index background_operations_tenant on background_operations ((payload ->> 'tenantId'))
  where kind = 'delete-tenant' and ended_at is null;
