-- expand
-- What a background operation still has to do, where it was told at its beginning: the targets that a query meant when its deletion was
-- confirmed. A chunk goes with its work; a million targets are two thousand rows.
create table operation_chunks (
  tenant_id    int not null,
  operation_id bigint not null,
  chunk        int not null,
  target_ids   int[] not null,
  primary key (tenant_id, operation_id, chunk),
  foreign key (tenant_id, operation_id) references background_operations on delete cascade
);
