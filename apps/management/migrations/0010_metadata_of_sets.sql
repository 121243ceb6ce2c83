-- expand
-- Metadata of sets, for administrators alone: devices see metadata of modules.

create table set_metadata (
  tenant_id int not null,
  set_id    bigint not null,
  key       text not null check (length(key) between 1 and 128),
  value     text check (length(value) <= 4000),
  primary key (tenant_id, set_id, key),
  foreign key (tenant_id, set_id) references distribution_sets on delete cascade
);
