-- expand
-- Where a tenant's messages go (contract management.md §10.5). The virtual host and its users exist on the broker; no password is kept here.
create table messaging (
  tenant_id   int not null primary key references tenants on delete cascade,
  vhost       text not null unique check (length(vhost) between 1 and 64),
  dmf         boolean not null default false,
  sie         boolean not null default false,
  -- Enablings run one after the other: whoever has taken the row asks the broker until then.
  taken_until timestamptz not null default now()
);
