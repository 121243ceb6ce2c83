-- expand
-- Tenants, their settings and users, and the catalogue: types, modules, artifact rows, sets.
-- Tenant first in every key: tenants can be spread over databases later.
-- Lock order of everything below: software_modules by id, then distribution_sets by id. An upload holds its module and then bumps
-- the sets around it; whoever changes the modules of a set must therefore take the modules first.

create table id_counters (
  tenant_id int not null,
  kind      text not null,              -- 'module', 'set', 'artifact', 'type', 'user'
  next_id   bigint not null default 11, -- ids a device sees start at 11 (one real client misreads shorter ones) and stay below 2^31
  primary key (tenant_id, kind)
);

create table tenants (
  tenant_id           int not null primary key,
  name                text not null check (length(name) between 1 and 128), -- canonical spelling; compared without case
  status              text not null default 'active' check (status in ('active', 'suspended')),
  default_set_type_id bigint not null,      -- the setting default.ds.type: not a normal key, it always has a value
  artifact_bytes      bigint not null default 0 check (artifact_bytes >= 0), -- bytes of artifact rows of modules that are not deleted
  created_at          timestamptz not null default now(),
  revision            int not null default 1
);
create unique index tenants_name on tenants (lower(name));

-- Only what differs from the defaults. A secret has no value here, only its digest (look-up) and its cipher (read back).
create table settings (
  tenant_id        int not null,
  key              text not null check (length(key) <= 128),
  value            jsonb,
  digest           bytea,                   -- sha256 of a secret: published to controller
  cipher           bytea,                   -- encrypted with HARRIER_SECRET_KEY
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, key),
  foreign key (tenant_id) references tenants on delete cascade,
  check ((value is null) = (cipher is not null) and (digest is null) = (cipher is null))
);

create table users (
  tenant_id        int not null,
  id               bigint not null,
  name             text not null check (length(name) between 1 and 128),
  type             text not null default 'PASSWORD_USER' check (type in ('PASSWORD_USER', 'EXTERNAL_USER')),
  password_hash    text,                    -- PHC string of scrypt; null: nobody signs in with a password
  permissions      text[] not null default '{}',
  system_managed   boolean not null default false,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index users_name on users (tenant_id, name);

create table software_module_types (
  tenant_id        int not null,
  id               bigint not null,
  key              text not null check (length(key) between 1 and 64),
  name             text not null check (length(name) between 1 and 128),
  description      text check (length(description) <= 512),
  colour           text check (length(colour) <= 16),
  max_assignments  int not null check (max_assignments >= 1),
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
  primary key (tenant_id, id),
  foreign key (tenant_id) references tenants on delete cascade
);
create unique index target_types_key on target_types (tenant_id, key);
create unique index target_types_name on target_types (tenant_id, name);

-- Set types that targets of a type may get. No row at all for a type: incompatible with everything.
create table target_type_set_types (
  tenant_id      int not null,
  target_type_id bigint not null,
  set_type_id    bigint not null,
  primary key (tenant_id, target_type_id, set_type_id),
  foreign key (tenant_id, target_type_id) references target_types on delete cascade,
  foreign key (tenant_id, set_type_id) references distribution_set_types on delete cascade
);
create index target_type_set_types_set on target_type_set_types (tenant_id, set_type_id);

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
-- a soft-deleted module still blocks its name (contract management.md §1.7)
create unique index software_modules_name on software_modules (tenant_id, name, version, type_id);
create index software_modules_type on software_modules (tenant_id, type_id);

create table module_metadata (
  tenant_id      int not null,
  module_id      bigint not null,
  key            text not null check (length(key) between 1 and 128),
  value          text check (length(value) <= 4000),
  target_visible boolean not null default false,
  primary key (tenant_id, module_id, key),
  foreign key (tenant_id, module_id) references software_modules on delete cascade
);

-- The row of an artifact; its bytes live in artifact-store, which counts one reference per row.
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

create table distribution_sets (
  tenant_id        int not null,
  id               bigint not null check (id < 2147483648),
  type_id          bigint not null,
  name             text not null check (length(name) between 1 and 128),
  version          text not null check (length(version) between 1 and 64),
  description      text check (length(description) <= 512),
  complete         boolean not null default false, -- one module at least, and every mandatory module type of the set type
  valid            boolean not null default true,
  locked           boolean not null default false,
  deleted          boolean not null default false,
  migration_step   boolean not null default false,
  reservations     int not null default 0,  -- assignments on their way to controller, as far as known;
  reserved_at      timestamptz,             -- the newest of them: after a minute all of them count as ended
  created_by       text not null,
  created_at       timestamptz not null default now(),
  last_modified_by text not null,
  last_modified_at timestamptz not null default now(),
  revision         int not null default 1,  -- moves with everything a device sees of the set, its modules and artifacts included
  primary key (tenant_id, id),
  foreign key (tenant_id, type_id) references distribution_set_types
);
create unique index distribution_sets_name on distribution_sets (tenant_id, name, version);
create index distribution_sets_type on distribution_sets (tenant_id, type_id);

create table set_modules (
  tenant_id int not null,
  set_id    bigint not null,
  module_id bigint not null,
  position  int not null,                   -- order of attachment: with too many of one type the newest stay
  primary key (tenant_id, set_id, module_id),
  foreign key (tenant_id, set_id) references distribution_sets on delete cascade,
  foreign key (tenant_id, module_id) references software_modules
);
create index set_modules_module on set_modules (tenant_id, module_id);

-- Work at other owners that must happen even if this process dies: retried until acknowledged, then deleted.
create table operations (
  tenant_id  int not null,
  id         bigint generated always as identity,
  kind       text not null check (kind in ('release-artifact')),
  payload    jsonb not null,
  attempts   int not null default 0,
  due_at     timestamptz not null default now(), -- taking an operation moves this ahead: a lease that ends by itself
  last_error text,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index operations_due on operations (due_at);

-- Answers of commands that are not idempotent by their own key: a retry gets the first answer.
create table commands (
  tenant_id  int not null,
  command_id text not null,
  answer     jsonb not null,
  at         timestamptz not null default now(),
  primary key (tenant_id, command_id, at)
) partition by range (at);
create table commands_default partition of commands default;

-- What gateways must forget. user_id null: everything of the tenant, devices included.
create table credential_changes (
  tenant_id int not null,
  id        bigint generated always as identity,
  txid      xid8 not null default pg_current_xact_id(),
  user_id   bigint,
  at        timestamptz not null default now(),
  primary key (tenant_id, id, at)
) partition by range (at);
create table credential_changes_default partition of credential_changes default;
create index credential_changes_order on credential_changes (txid, id);
