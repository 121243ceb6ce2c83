-- expand
-- Tags of targets and of distribution sets (spec 001 §2.7). Which targets have a tag is controller's; which sets, ours.

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

create table distribution_set_tag_links (
  tenant_id int not null,
  set_id    bigint not null,
  tag_id    bigint not null,
  primary key (tenant_id, set_id, tag_id),
  foreign key (tenant_id, set_id) references distribution_sets on delete cascade,
  foreign key (tenant_id, tag_id) references distribution_set_tags on delete cascade
);
create index distribution_set_tag_links_tag on distribution_set_tag_links (tenant_id, tag_id, set_id);
