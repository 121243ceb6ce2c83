-- These views show the safety policies of tenants, and what rules of evidence may name (contract beyond.md §1).

create or replace view safety_policies_v1 as
  select tenant_id, id, name, safety from safety_policies;

-- One row for each set; of several modules of one type the first counts.
create or replace view set_facts_v1 as
  select s.tenant_id, s.id,
         jsonb_build_object(
           'name', s.name, 'version', s.version,
           'metadata', coalesce((select jsonb_object_agg(d.key, d.value) from set_metadata d where d.tenant_id = s.tenant_id and d.set_id = s.id and d.value is not null), '{}'),
           'modules', coalesce(
             (select jsonb_object_agg(m.type_key, m.facts)
                from (select distinct on (y.key) y.key as type_key,
                             jsonb_build_object('name', m.name, 'version', m.version, 'metadata',
                               coalesce((select jsonb_object_agg(d.key, d.value) from module_metadata d
                                          where d.tenant_id = m.tenant_id and d.module_id = m.id and d.value is not null), '{}')) as facts
                        from set_modules sm
                        join software_modules m on m.tenant_id = sm.tenant_id and m.id = sm.module_id
                        join software_module_types y on y.tenant_id = m.tenant_id and y.id = m.type_id
                       where sm.tenant_id = s.tenant_id and sm.set_id = s.id
                       order by y.key, sm.position) m), '{}')) as facts
    from distribution_sets s;

grant select on safety_policies_v1, set_facts_v1 to harrier_rollout_engine;
