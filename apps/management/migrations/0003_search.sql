-- expand
-- The search of all entities by the beginning of their names (contract console.md §3): names are folded and compared as bytes, as those of targets are.
create index distribution_sets_name_folded on distribution_sets (tenant_id, lower(name) text_pattern_ops, id desc) where not deleted;
create index software_modules_name_folded on software_modules (tenant_id, lower(name) text_pattern_ops, id desc) where not deleted;
create index target_tags_name_folded on target_tags (tenant_id, lower(name) text_pattern_ops, id desc);
create index distribution_set_tags_name_folded on distribution_set_tags (tenant_id, lower(name) text_pattern_ops, id desc);
