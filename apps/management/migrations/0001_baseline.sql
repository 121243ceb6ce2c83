-- expand
-- The schema of management: tenants with their settings, users, clients, messages and webhooks, and the catalogue of modules, sets and types.
-- Functions are in ../functions, published views in ../views. The audit trail is in a schema of its own, which packages/db makes.
--
-- The tenant leads every key, so that tenants can be spread over databases later.
-- Locks are taken on software_modules by id first, then on distribution_sets by id. An upload holds its module and then raises the revision of
-- the sets around it; whoever changes the modules of a set must therefore lock the modules first.

-- Ids

create table id_counters (
  tenant_id int not null,
  kind      text not null,              -- what the ids are for, such as 'module' or 'set'
  next_id   bigint not null default 11, -- ids that a device sees start at 11, as one real client misreads shorter ones, and stay below 2^31
  primary key (tenant_id, kind)
);

-- An id of a tenant is never used again: caches, tokens on their way and events name tenants by it. 1 is the operator's own tenant.
create sequence tenant_ids as int minvalue 2;

-- Tenants

create table tenants (
  tenant_id           int not null primary key,
  name                text not null check (length(name) between 1 and 128), -- in its canonical spelling; names are compared without case
  description         text check (length(description) <= 512),
  -- deleting: nobody signs in any more, and all owners are erasing what belongs to the tenant; this row goes last
  status              text not null default 'active' check (status in ('active', 'suspended', 'deleting')),
  default_set_type_id bigint not null,      -- the setting default.ds.type, which is not in `settings` because it always has a value
  artifact_bytes      bigint not null default 0 check (artifact_bytes >= 0), -- bytes of the artifacts of modules that are not deleted
  created_by          text not null default 'system',
  created_at          timestamptz not null default now(),
  last_modified_by    text not null default 'system',
  last_modified_at    timestamptz not null default now(),
  revision            int not null default 1
);
create unique index tenants_name on tenants (lower(name));

-- How many bytes of artifacts a tenant had at the end of a month (UTC), of which the last one has not ended (contract management.md §10.6). A month
-- without a row ended as the one before it. Written by a trigger (functions/insights.sql).
create table artifact_storage_months (
  tenant_id int not null references tenants on delete cascade,
  month     date not null,                -- its first day
  bytes     bigint not null,
  found     boolean not null default false, -- true: of the time before the recording, at least so many bytes; no service sets it any more
  primary key (tenant_id, month)
);

-- Settings

-- A row is here only where a tenant differs from the default. A secret has no value, only its digest (to find it) and its cipher (to show it).
create table settings (
  tenant_id        int not null,
  key              text not null check (length(key) <= 128),
  value            jsonb,
  digest           bytea,                   -- SHA-256 of a secret, published to controller
  cipher           bytea,                   -- the secret, encrypted with HARRIER_SECRET_KEY
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, key),
  foreign key (tenant_id) references tenants on delete cascade,
  check ((value is null) = (cipher is not null) and (digest is null) = (cipher is null))
);

-- Quotas

-- Limits that were set for a tenant (contract management.md §9, §10.3). Without a row the default of packages/contracts applies.
create table quotas (
  tenant_id        int not null,
  key              text not null check (length(key) between 1 and 128),
  value            bigint not null,         -- 0 or less: there is no limit
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, key),
  foreign key (tenant_id) references tenants on delete cascade
);

-- What the targets of a tenant use of METADATA_PER_TARGET_MAX_COUNT: the highest number of entries of any of them. A scan of controller's
-- published view finds it, some thousand entries a second in the order of their key, so that no request reads a whole fleet.
create table target_metadata_usage (
  tenant_id int not null primary key references tenants on delete cascade,
  cursor_id int not null default -1,              -- the scan goes on behind this target
  due_at    timestamptz not null default now(),
  largest      int not null default 0,               -- what the last complete scan has found
  so_far    int not null default 0                -- what the current scan has found until now
);

-- Users and roles

create table users (
  tenant_id          int not null,
  id                 bigint not null,
  name               text not null check (length(name) between 1 and 128),
  type               text not null default 'PASSWORD_USER' check (type in ('PASSWORD_USER', 'EXTERNAL_USER')),
  password_hash      text,                          -- PHC string of scrypt; null: nobody signs in with a password
  permissions        text[] not null default '{}',  -- grants without a restriction
  scoped_permissions jsonb not null default '{}',   -- grants for some target types alone, {"READ_TARGET": [11, 12]}; an empty list: for none
  system_managed     boolean not null default false,
  created_by         text not null,
  created_at         timestamptz not null default now(),
  last_modified_by   text not null,
  last_modified_at   timestamptz not null default now(),
  revision           int not null default 1,
  generation         int not null default 0,        -- counts passwords: who changes one ends the sessions that were opened with the former
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index users_name on users (tenant_id, name);

-- The predefined role SYSTEM_ADMIN holds every permission that the running version knows, so its row holds none.
create table roles (
  tenant_id          int not null,
  id                 bigint not null,               -- 1 is SYSTEM_ADMIN in every tenant
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

-- Sessions

-- Sessions of users (ADR 47): of the console in a browser, by cookie, and of the command line. Only the digest of a session's id is here, so nobody
-- signs in with what a backup holds.
create table sessions (
  tenant_id    int not null,
  id           bigint generated always as identity,
  id_digest    bytea not null check (length(id_digest) = 32),
  user_id      bigint,                          -- null: a user whom only the issuer knows
  generation   int not null default 0,          -- of the user's password; with another one the session is over
  kind         text not null check (kind in ('browser', 'cli')),
  issuer       text not null default '' check (length(issuer) <= 2000), -- '': signed in by password
  subject      text not null check (length(subject) between 1 and 256),
  scopes       text[] not null default '{}',    -- of the issuer's token
  created_at   timestamptz not null default now(),
  expires_at   timestamptz not null,
  last_used_at timestamptz not null default now(), -- to the minute
  idle_until   timestamptz not null,
  last_ip      text not null default '' check (length(last_ip) <= 64),
  user_agent   text not null default '' check (length(user_agent) <= 256),
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade,
  foreign key (tenant_id, user_id) references users on delete cascade
);
create unique index sessions_digest on sessions (id_digest);
create index sessions_user on sessions (tenant_id, user_id);
create index sessions_owner on sessions (tenant_id, subject, issuer, last_used_at);
create index sessions_ended on sessions (least(expires_at, idle_until));

-- Credentials that have changed

-- A change feed of what gateways must forget.
create table credential_changes (
  tenant_id int not null,
  id        bigint generated always as identity,
  txid      xid8 not null default pg_current_xact_id(),
  user_id   bigint,                         -- null: everything of the tenant, devices included; 0: all users, but no device
  at        timestamptz not null default now(),
  primary key (tenant_id, id, at)
) partition by range (at);
create table credential_changes_default partition of credential_changes default;
create index credential_changes_order on credential_changes (txid, id);

-- API keys

-- API keys of devices and of their gateways (spec 000 §4.3, §5.5). The key itself is stored nowhere: only its digest is.
create table api_keys (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),    -- part of the key
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  digest           bytea not null check (length(digest) = 32), -- SHA-256 of the whole key, published to controller
  expires_at       timestamptz not null,
  last_used_on     date,                          -- in UTC; gateways report it once a day and key
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

-- OAuth clients

-- OAuth 2.0 clients of the tenants (spec 000 §5.2). A client id names its tenant, because a token request does not.
create table oauth_clients (
  tenant_id        int not null,
  id               bigint not null,
  client_id        text generated always as ('oc_' || tenant_id::text || '_' || id::text) stored,
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  scopes           text[] not null check (cardinality(scopes) between 1 and 50),
  access_token_ttl int not null check (access_token_ttl between 60 and 86400), -- seconds
  secret           bytea not null check (length(secret) = 32),                 -- SHA-256; the secret itself is stored nowhere
  previous_secret  bytea check (length(previous_secret) = 32),                 -- is accepted as well until `previous_until`
  previous_until   timestamptz,
  generation       int not null default 1,    -- part of each token: a token of an earlier generation is denied
  last_used_on     date,                      -- in UTC, the day of the client's last token
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade,
  check ((previous_secret is null) = (previous_until is null))
);
create unique index oauth_clients_name on oauth_clients (tenant_id, name);

-- The keys that sign the clients' tokens belong to the service and to no tenant. A new key is published a while before it signs, and an old one
-- for as long as a token of it may live.
create table signing_keys (
  number     int primary key,                   -- 1, 2, 3 …: two replicas cannot both make the next one
  kid        text not null unique,
  cipher     bytea not null,                    -- the private key, encrypted
  public_jwk jsonb not null,
  created_at timestamptz not null default now(),
  signs_from timestamptz not null
);

-- Types of modules, sets and targets

create table software_module_types (
  tenant_id        int not null,
  id               bigint not null,
  key              text not null check (length(key) between 1 and 64),
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  colour           text check (length(colour) <= 16),
  max_assignments  int not null check (max_assignments >= 1),
  -- Artifacts that a module of the type needs to be complete, and with it every set that holds it; 0: none. What a set lacks of them is counted
  -- when it is read, because uploads and deletions change modules that many sets share.
  min_artifacts    int not null default 0 check (min_artifacts >= 0),
  deleted          boolean not null default false,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index software_module_types_key on software_module_types (tenant_id, key);
create unique index software_module_types_name on software_module_types (tenant_id, name);

create table distribution_set_types (
  tenant_id        int not null,
  id               bigint not null,
  key              text not null check (length(key) between 1 and 64),
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  colour           text check (length(colour) <= 16),
  deleted          boolean not null default false,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index distribution_set_types_key on distribution_set_types (tenant_id, key);
create unique index distribution_set_types_name on distribution_set_types (tenant_id, name);

create table set_type_module_types (
  tenant_id      int not null,
  set_type_id    bigint not null,
  module_type_id bigint not null,
  mandatory      boolean not null,
  primary key (tenant_id, set_type_id, module_type_id),
  foreign key (tenant_id, set_type_id) references distribution_set_types on delete cascade,
  foreign key (tenant_id, module_type_id) references software_module_types
);
create index set_type_module_types_module on set_type_module_types (tenant_id, module_type_id);

create table target_types (
  tenant_id        int not null,
  id               bigint not null,
  key              text not null check (length(key) between 1 and 64),
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  colour           text check (length(colour) <= 16),
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  evidence         jsonb not null default '[]', -- what targets of the type show when they run a set (contract beyond.md §1.2)
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index target_types_key on target_types (tenant_id, key);
create unique index target_types_name on target_types (tenant_id, name);

-- The set types that targets of a type may get. A target type without a row is incompatible with every set.
create table target_type_set_types (
  tenant_id      int not null,
  target_type_id bigint not null,
  set_type_id    bigint not null,
  primary key (tenant_id, target_type_id, set_type_id),
  foreign key (tenant_id, target_type_id) references target_types on delete cascade,
  foreign key (tenant_id, set_type_id) references distribution_set_types on delete cascade
);
create index target_type_set_types_set on target_type_set_types (tenant_id, set_type_id);

-- Software modules and artifacts

create table software_modules (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  type_id          bigint not null,
  name             text not null check (length(name) between 1 and 128),
  version          text not null check (length(version) between 1 and 64),
  description      text check (length(description) <= 512),
  vendor           text check (length(vendor) <= 256),
  encrypted        boolean not null default false,
  locked           boolean not null default false,
  deleted          boolean not null default false,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, type_id) references software_module_types
);
-- A soft-deleted module still blocks its name (contract management.md §1.7).
create unique index software_modules_name on software_modules (tenant_id, name, version, type_id);
create index software_modules_type on software_modules (tenant_id, type_id);
-- The search of all entities by the beginning of their names (contract console.md §3): names are folded and compared as bytes, as those of targets are.
create index software_modules_name_folded on software_modules (tenant_id, lower(name) text_pattern_ops, id desc) where not deleted;

create table module_metadata (
  tenant_id      int not null,
  module_id      bigint not null,
  key            text not null check (length(key) between 1 and 128),
  value          text check (length(value) <= 4000),
  target_visible boolean not null default false,
  primary key (tenant_id, module_id, key),
  foreign key (tenant_id, module_id) references software_modules on delete cascade
);

-- The bytes of an artifact are in artifact-store, which counts one reference per row.
create table artifacts (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  module_id        bigint not null,
  filename         text not null check (length(filename) between 1 and 256),
  size             bigint not null check (size >= 0),
  sha1             text not null,
  md5              text not null,
  sha256           text not null,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, module_id) references software_modules on delete cascade
);
create unique index artifacts_filename on artifacts (tenant_id, module_id, filename);
-- The largest artifact of a tenant is what it uses of ARTIFACT_MAX_BYTES.
create index artifacts_size on artifacts (tenant_id, size);

-- Distribution sets

create table distribution_sets (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  type_id          bigint not null,
  name             text not null check (length(name) between 1 and 128),
  version          text not null check (length(version) between 1 and 64),
  description      text check (length(description) <= 512),
  complete         boolean not null default false, -- the set has a module, and one of every mandatory type of its set type
  valid            boolean not null default true,
  locked           boolean not null default false,
  deleted          boolean not null default false,
  migration_step   boolean not null default false,
  reservations     int not null default 0,  -- assignments that are on their way to controller, as far as is known
  reserved_at      timestamptz,             -- when the newest of them began: after a minute all of them count as ended
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,  -- grows with everything that a device sees of the set, its modules and artifacts included
  primary key (tenant_id, id),
  foreign key (tenant_id, type_id) references distribution_set_types
);
create unique index distribution_sets_name on distribution_sets (tenant_id, name, version);
create index distribution_sets_type on distribution_sets (tenant_id, type_id);
create index distribution_sets_name_folded on distribution_sets (tenant_id, lower(name) text_pattern_ops, id desc) where not deleted;

create table set_modules (
  tenant_id int not null,
  set_id    bigint not null,
  module_id bigint not null,
  position  int not null,                   -- the order in which they were added: where a set holds too many of a type the newest stay
  primary key (tenant_id, set_id, module_id),
  foreign key (tenant_id, set_id) references distribution_sets on delete cascade,
  foreign key (tenant_id, module_id) references software_modules
);
create index set_modules_module on set_modules (tenant_id, module_id);

-- Only administrators see the metadata of sets: devices see that of modules.
create table set_metadata (
  tenant_id int not null,
  set_id    bigint not null,
  key       text not null check (length(key) between 1 and 128),
  value     text check (length(value) <= 4000),
  primary key (tenant_id, set_id, key),
  foreign key (tenant_id, set_id) references distribution_sets on delete cascade
);

-- Tags

-- Which targets have a tag is stored by controller (spec 001 §2.7).
create table target_tags (
  tenant_id        int not null,
  id               bigint not null,
  name             text not null check (length(name) between 1 and 128),
  description      text,
  colour           text,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index target_tags_name on target_tags (tenant_id, name);
create index target_tags_name_folded on target_tags (tenant_id, lower(name) text_pattern_ops, id desc);

create table distribution_set_tags (
  tenant_id        int not null,
  id               bigint not null,
  name             text not null check (length(name) between 1 and 128),
  description      text,
  colour           text,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index distribution_set_tags_name on distribution_set_tags (tenant_id, name);
create index distribution_set_tags_name_folded on distribution_set_tags (tenant_id, lower(name) text_pattern_ops, id desc);

create table distribution_set_tag_links (
  tenant_id int not null,
  set_id    bigint not null,
  tag_id    bigint not null,
  primary key (tenant_id, set_id, tag_id),
  foreign key (tenant_id, set_id) references distribution_sets on delete cascade,
  foreign key (tenant_id, tag_id) references distribution_set_tags on delete cascade
);
create index distribution_set_tag_links_tag on distribution_set_tag_links (tenant_id, tag_id, set_id);

-- Safety policies

-- Safety policies by name (contract beyond.md §1.1).
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

-- Messaging

-- Where a tenant's messages go (contract management.md §10.5). The virtual host and its users exist on the broker; no password is kept here.
create table messaging (
  tenant_id   int not null primary key references tenants on delete cascade,
  vhost       text not null unique check (length(vhost) between 1 and 64),
  dmf         boolean not null default false,
  sie         boolean not null default false,
  -- Enablings run one after the other: whoever has taken the row asks the broker until then.
  taken_until timestamptz not null default now(),
  -- How far the events of the tenant have been published to its virtual host (SIE), and which replica publishes them.
  sie_position      text,                   -- the cursor of events behind which the next publication begins; null before it is enabled
  sie_attempts      int not null default 0, -- failures in a row
  sie_failing_since timestamptz,
  sie_due_at        timestamptz not null default now(),
  sie_notifications int not null default 0, -- grows when there may be events, so that whoever publishes meanwhile looks again
  sie_owner         uuid,                   -- who publishes now, until the lease ends
  sie_leased_until  timestamptz
);

-- Webhooks

-- Webhooks (contract extensions.md): where events are sent to, and how far they have been sent.
create table webhooks (
  tenant_id         int not null,
  id                bigint not null check (id < 2147483648),
  name              text not null check (length(name) between 1 and 64),
  description       text check (length(description) <= 512),
  url               text not null check (length(url) between 1 and 2000),
  types             text[],                  -- null: all
  secret            bytea not null,          -- sealed with HARRIER_SECRET_KEY
  enabled           boolean not null default true,
  disabled_reason   text,
  position          text not null,           -- the cursor of events behind which the next delivery begins
  delivered         text[] not null default '{}', -- ids of the events behind it that have been accepted already
  failed            jsonb not null default '{}', -- how often each of those was not accepted that have been tried
  attempts          int not null default 0,  -- failures in a row
  failing_since     timestamptz,
  last_error        text,
  last_delivered_at timestamptz,
  due_at            timestamptz not null default now(),
  notifications     int not null default 0,  -- grows when there may be events, so that whoever delivers meanwhile looks again
  owner             uuid,                    -- who delivers now, until the lease ends
  leased_until      timestamptz,
  created_by        text not null,
  created_at        timestamptz not null default now(),
  last_modified_by  text not null,
  last_modified_at  timestamptz not null default now(),
  revision          int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index webhooks_name on webhooks (tenant_id, lower(name));
create index webhooks_due on webhooks (due_at) where enabled;

-- One row for each attempt.
create table webhook_deliveries (
  tenant_id  int not null,
  webhook_id bigint not null,
  id         bigint generated always as identity,
  event_id   text not null,
  type       text not null,
  subject    text not null,
  attempt    int not null,
  delivered  boolean not null,
  status     int,
  ms         int not null,
  error      text,
  at         timestamptz not null default now(),
  primary key (tenant_id, webhook_id, id, at)
) partition by range (at);
create table webhook_deliveries_default partition of webhook_deliveries default;

-- Operations, commands and events

-- Work at other owners that must happen even if this process dies: it is retried until the owner has acknowledged it, and then deleted.
create table operations (
  tenant_id  int not null,
  id         bigint generated always as identity,
  kind       text not null check (kind in ('release-artifact')),
  payload    jsonb not null,
  attempts   int not null default 0,
  due_at     timestamptz not null default now(), -- claiming an operation moves this ahead, which makes a lease that ends by itself
  last_error text,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index operations_due on operations (due_at);

-- Operations that callers watch, and that stay readable after their end. They belong to the tenant of the principal that began them.
create table background_operations (
  tenant_id  int not null,
  id         bigint generated always as identity,
  kind       text not null check (length(kind) between 1 and 64),
  subject    text not null,              -- what the operation is about, for people
  payload    jsonb not null,
  status     text not null default 'waiting' check (status in ('waiting', 'running', 'finished')),
  done       bigint not null default 0,
  total      bigint,                     -- null until it has been counted
  attempts   int not null default 0,     -- failures in a row
  last_error text,
  due_at     timestamptz not null default now(), -- claiming an operation moves this ahead, which makes a lease that ends by itself
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

-- What a background operation still has to do where its beginning fixed it: the targets that a query matched when their deletion was
-- confirmed. A chunk is deleted with its work; a million targets are two thousand rows.
create table operation_chunks (
  tenant_id    int not null,
  operation_id bigint not null,
  chunk        int not null,
  target_ids   int[] not null,
  primary key (tenant_id, operation_id, chunk),
  foreign key (tenant_id, operation_id) references background_operations on delete cascade
);

-- The first answers of commands that are not idempotent by a key of their own: a repeated command gets the same answer.
create table commands (
  tenant_id  int not null,
  command_id text not null,
  answer     jsonb not null,
  at         timestamptz not null default now(),
  primary key (tenant_id, command_id, at)
) partition by range (at);
create table commands_default partition of commands default;

-- Events of distribution sets and software modules (contract rollouts.md §7.2), as the outboxes of controller and rollout-engine.
-- Self-contained: an event needs nothing that may change or vanish later. `items` holds one element per message.
create table outbox (
  id        bigint generated always as identity,
  txid      xid8 not null default pg_current_xact_id(),
  tenant_id int not null,
  topic     text not null,
  type      text not null,
  common    json not null,
  items     json not null,
  traceparent text,
  at        timestamptz not null default now(),
  primary key (id, at)
) partition by range (at);
create table outbox_default partition of outbox default;
create index outbox_order on outbox (txid, id);

-- What the relay has sent: every row that was visible in this snapshot.
create table outbox_cursor (
  one  boolean primary key default true check (one),
  sent pg_snapshot not null default '1:1:'
);
insert into outbox_cursor default values;

-- Status of the system

-- The running processes of management and of the gateways, which own no data, for the status of the system (contract console.md §3). Each writes its
-- own row every 30 seconds.
create table nodes (
  id                   text primary key,        -- of the process, new at each start
  service              text not null,
  host                 text not null,
  version              text not null,
  started_at           timestamptz not null,
  seen_at              timestamptz not null,
  migration            text,                    -- the newest that the schema has
  outbox_waiting_since timestamptz,             -- null: no event waits for Kafka
  jobs                 jsonb not null check (jsonb_typeof(jobs) = 'array')
) with (fillfactor = 50);
