-- expand
-- What the targets of a tenant had installed and assigned at the end of each day (contract console.md §1, M19): the last whole walk of a day writes it.
create table fleet_days (
  tenant_id int not null,
  kind      smallint not null,            -- 1: by installed set 2: by assigned set, as in fleet_counts
  day       date not null,                -- UTC
  key       bigint not null,              -- the id of the set; 0 for all beyond the most frequent ones
  type_id   bigint not null,              -- of the targets, 0 for those without a type
  n         bigint not null,
  primary key (tenant_id, kind, day, key, type_id)
) with (fillfactor = 70);

-- The days of which something is known: a tenant may have no target at the end of one.
create table fleet_day_walks (
  tenant_id  int not null,
  day        date not null,
  counted_at timestamptz not null,
  primary key (tenant_id, day)
) with (fillfactor = 70);
