-- expand
-- What queries over a fleet need, as measured over a million targets (docs/adr, "Queries over a fleet").

-- The id within the index that lists are ordered by: a deep page walks it without the rows. The name stays, for it is what a taken
-- controllerId is known by.
drop index targets_controller_id;
create unique index targets_controller_id on targets (tenant_id, controller_id) include (id);

-- Lists ordered by name, as people look at them.
create index targets_name_order on targets (tenant_id, name, id);

-- A value may be common under one key and rare under another; taken one by one they say nothing about that.
create statistics target_attributes_pairs (mcv) on lower(key), lower(value) from target_attributes;
