-- expand
-- The search of all entities by the beginning of their names (contract console.md §3): names are folded and compared as bytes, as those of targets are.
create index rollouts_name_folded on rollouts (tenant_id, lower(name) text_pattern_ops, id desc) where not deleted;
create index target_filters_name_folded on target_filters (tenant_id, lower(name) text_pattern_ops, id desc) where not standalone;
