-- expand
-- API keys of devices and of their gateways (spec 000 §4.3, §5.5). The key itself is nowhere: its digest is all there is.

create table api_keys (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648), -- part of the key
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  digest           bytea not null check (length(digest) = 32), -- sha256 of the whole key: published to controller
  expires_at       timestamptz not null,
  last_used_on     date,                          -- UTC; gateways tell it once a day and key
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade,
  check (expires_at > created_at and expires_at <= created_at + interval '8760 hours')
);
create unique index api_keys_digest on api_keys (tenant_id, digest);
