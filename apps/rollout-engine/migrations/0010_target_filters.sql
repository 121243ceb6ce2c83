-- expand
-- Target filters, and the set that a filter gives to its targets by itself.

create table target_filters (
  tenant_id               int not null,
  id                      bigint not null check (id < 2147483648),
  name                    text not null check (length(name) between 1 and 128),
  query                   text not null check (length(query) between 1 and 1024), -- macros stay as they are: each run has its own moment
  -- null: none. A set that is deleted or invalidated is none too, from the very moment on: readers ask management.distribution_sets_v1
  auto_assign_set_id      bigint,
  auto_assign_type        smallint,              -- 0 soft 1 forced 3 downloadonly
  auto_assign_weight      int,
  auto_assign_confirmation boolean,
  auto_assign_types       bigint[],              -- target types that who set it was restricted to; null: not restricted
  auto_assign_by          text,                  -- who set it: the initiator of its actions
  auto_assign_epoch       bigint not null default 0, -- grows with every change of query or set: work that was begun before it is void
  created_by              text not null,
  created_at              timestamptz not null default now(),
  last_modified_by        text not null,
  last_modified_at        timestamptz not null default now(),
  revision                int not null default 1,
  primary key (tenant_id, id),
  check ((auto_assign_set_id is null) = (auto_assign_type is null))
);
create unique index target_filters_name on target_filters (tenant_id, name);
create index target_filters_set on target_filters (tenant_id, auto_assign_set_id) where auto_assign_set_id is not null;
