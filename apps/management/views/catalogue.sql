-- These views show sets, modules, artifacts and types as devices and rollouts need them.

create or replace view distribution_sets_v1 as
  select s.tenant_id, s.id, s.name, s.version, s.type_id, t.key as type_key, 
         -- The set has every mandatory module type, and every module has the artifacts that its type demands.
         s.complete and not exists (
           select from set_modules sm
             join software_modules cm on cm.tenant_id = sm.tenant_id and cm.id = sm.module_id
             join software_module_types ct on ct.tenant_id = cm.tenant_id and ct.id = cm.type_id
            where sm.tenant_id = s.tenant_id and sm.set_id = s.id and ct.min_artifacts > 0
              and ct.min_artifacts > (select count(*) from artifacts ca where ca.tenant_id = cm.tenant_id and ca.module_id = cm.id)
         ) as complete,
         s.valid, s.deleted, s.locked, s.migration_step, s.revision
    from distribution_sets s
    join distribution_set_types t on t.tenant_id = s.tenant_id and t.id = s.type_id;

-- This view says why a set is not complete, for the answers that refuse it; both lists of a complete set are empty.
create or replace view set_completeness_v1 as
  select s.tenant_id, s.id,
         array(select y.key
                 from set_type_module_types x
                 join software_module_types y on y.tenant_id = x.tenant_id and y.id = x.module_type_id
                where x.tenant_id = s.tenant_id and x.set_type_id = s.type_id and x.mandatory
                  and not exists (select from set_modules sm
                                    join software_modules m on m.tenant_id = sm.tenant_id and m.id = sm.module_id
                                   where sm.tenant_id = s.tenant_id and sm.set_id = s.id and m.type_id = x.module_type_id)
                order by y.key) as missing_types,
         array(select m.name || ':' || m.version
                 from set_modules sm
                 join software_modules m on m.tenant_id = sm.tenant_id and m.id = sm.module_id
                 join software_module_types y on y.tenant_id = m.tenant_id and y.id = m.type_id
                where sm.tenant_id = s.tenant_id and sm.set_id = s.id and y.min_artifacts > 0
                  and y.min_artifacts > (select count(*) from artifacts a where a.tenant_id = m.tenant_id and a.module_id = m.id)
                order by 1) as unfilled_modules
    from distribution_sets s;

create or replace view set_modules_v1 as
  select tenant_id, set_id, module_id, position from set_modules;

create or replace view software_modules_v1 as
  select m.tenant_id, m.id, m.name, m.version, m.type_id, t.key as type_key, m.deleted, m.revision,
         coalesce( -- A device gets 50 entries of a module at most (contract management.md §5.11).
           (select jsonb_agg(jsonb_build_object('key', v.key, 'value', v.value) order by v.key)
              from (select d.key, d.value
                      from module_metadata d
                     where d.tenant_id = m.tenant_id and d.module_id = m.id and d.target_visible
                     order by d.key limit 50) v),
           '[]'::jsonb) as metadata
    from software_modules m
    join software_module_types t on t.tenant_id = m.tenant_id and t.id = m.type_id;

create or replace view artifacts_v1 as
  select tenant_id, id, module_id, filename, size, sha1, md5, sha256, created_at from artifacts;

create or replace view set_types_v1 as
  select tenant_id, id, key, name from distribution_set_types;

-- The field map of queries over modules (packages/fiql) reads this view; only this service lists modules.
create or replace view software_module_types_v1 as
  select tenant_id, id, key, name from software_module_types;

-- What targets of a type show when they run a set is of `evidence` (contract beyond.md §1.2).
create or replace view target_types_v1 as
  select tenant_id, id, key, name, evidence from target_types;

create or replace view target_type_set_types_v1 as
  select tenant_id, target_type_id, set_type_id from target_type_set_types;

create or replace view target_tags_v1 as
  select tenant_id, id, name from target_tags;

create or replace view distribution_set_tags_v1 as
  select tenant_id, id, name from distribution_set_tags;

create or replace view distribution_set_tag_links_v1 as
  select tenant_id, set_id, tag_id from distribution_set_tag_links;

grant select on target_tags_v1, distribution_set_tags_v1, distribution_set_tag_links_v1 to harrier_controller, harrier_rollout_engine;
grant select on distribution_sets_v1, set_modules_v1, software_modules_v1, artifacts_v1, set_types_v1, target_types_v1,
  target_type_set_types_v1 to harrier_controller;
grant select on distribution_sets_v1, set_completeness_v1, set_modules_v1, set_types_v1, target_types_v1, target_type_set_types_v1 to harrier_rollout_engine;
grant select on artifacts_v1, set_modules_v1, software_modules_v1 to harrier_artifact_store;
