-- expand
-- OAuth 2.0 clients of the tenants (spec 000 §5.2), and the keys that sign the tokens they get.

create table oauth_clients (
  tenant_id          int not null,
  id                 bigint not null,
  client_id          text generated always as ('oc_' || tenant_id::text || '_' || id::text) stored, -- says whose it is: a token request has no tenant
  name               text not null check (length(name) between 1 and 128),
  description        text check (length(description) <= 512),
  scopes             text[] not null check (cardinality(scopes) between 1 and 50),
  access_token_ttl   int not null check (access_token_ttl between 60 and 86400), -- seconds
  secret             bytea not null check (length(secret) = 32),                 -- sha256; the secret itself is nowhere
  previous_secret    bytea check (length(previous_secret) = 32),                 -- good as well, until:
  previous_until     timestamptz,
  generation         int not null default 1,    -- part of each token: a token of an earlier one is refused
  last_used_on       date,                      -- UTC; the day of its last token
  created_by         text not null,
  created_at         timestamptz not null default now(),
  last_modified_by   text not null,
  last_modified_at   timestamptz not null default now(),
  revision           int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade,
  check ((previous_secret is null) = (previous_until is null))
);
create unique index oauth_clients_name on oauth_clients (tenant_id, name);

-- The service's own, of no tenant. A new key is published a while before it signs, and an old one for as long as a token of it may live.
create table signing_keys (
  number     int primary key,                   -- 1, 2, 3, …: two replicas cannot both make the next one
  kid        text not null unique,
  cipher     bytea not null,                    -- the private key, sealed
  public_jwk jsonb not null,
  created_at timestamptz not null default now(),
  signs_from timestamptz not null
);
