-- expand
-- Limits that somebody has set for a tenant (contract management.md §9, §10.3). No row: the default of the code applies.

create table quotas (
  tenant_id        int not null,
  key              text not null check (length(key) between 1 and 128),
  value            bigint not null,         -- 0 or less: no limit
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, key),
  foreign key (tenant_id) references tenants on delete cascade
);

-- the largest artifact of a tenant is what it uses of ARTIFACT_MAX_BYTES
create index artifacts_size on artifacts (tenant_id, size);
