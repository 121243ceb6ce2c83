import { statement } from "@harrier/db";
import { moduleComplete } from "../rows/complete.ts";

/** This is the first set, in the order given, that cannot be created as requested. */
export interface SetProblem {
  problem: "type-unknown" | "type-deleted" | "module-unknown" | "module-unsupported" | "incomplete" | "type-changed";
  subject: string;
  /** These are the gaps of a set that is incomplete. */
  missingTypes: string[];
  unfilledModules: string[];
}

/**
 * Creates all sets with their modules, or none, in one statement. `sets` is `[{id, name, version, description, type, migrationStep, locked,
 * modules: [id, …]}]`; a set without a type gets the tenant's default. No row means that all are stored. A name that is taken is a unique
 * violation.
 *
 * `kept`: of too many modules of one type the last ones stay (contract management.md §5.2). As far as the column goes, a set is complete
 * when it has at least one module and every mandatory type (rows/complete.ts); to be locked, it also needs the artifacts of its modules.
 * `held`: the lists of a type do not change under a set that is being created of it (`lockSetType` waits for us); where they have just
 * changed, our snapshot is too old, and the statement is repeated. A locked set locks its modules; they are locked in the order of ids,
 * before the foreign keys lock theirs.
 */
export const insertSets = statement<[tenantId: number, sets: string, actor: string], SetProblem>(
  "management.insert_sets",
  `with input as (
     select i.*, y.id as type_id, y.deleted as type_deleted, y.revision as type_revision
       from jsonb_to_recordset($2::jsonb)
         as i(id bigint, name text, version text, description text, type text, "migrationStep" boolean, locked boolean, modules bigint[])
       left join tenants t on t.tenant_id = $1
       left join distribution_set_types y
         on y.tenant_id = $1 and case when i.type is null then y.id = t.default_set_type_id else y.key = i.type end),
   held as (
     select y.id, y.revision from distribution_set_types y
      where y.tenant_id = $1 and y.id in (select type_id from input) order by y.id for key share),
   wanted as (
     select distinct on (i.id, w.module_id) i.id as set_id, i.type_id, w.module_id, w.position
       from input i cross join unnest(i.modules) with ordinality as w(module_id, position)
      order by i.id, w.module_id, w.position),
   resolved as (
     select w.*, m.id as found, m.type_id as module_type_id, x.module_type_id is not null as allowed,
            m.name || ':' || m.version as called, ${moduleComplete("m", "mt")} as filled,
            row_number() over (partition by w.set_id, m.type_id order by w.position desc) <= mt.max_assignments as kept
       from wanted w
       left join software_modules m on m.tenant_id = $1 and m.id = w.module_id and not m.deleted
       left join software_module_types mt on mt.tenant_id = $1 and mt.id = m.type_id
       left join set_type_module_types x on x.tenant_id = $1 and x.set_type_id = w.type_id and x.module_type_id = m.type_id),
   checked as (
     select i.*, exists (select from resolved r where r.set_id = i.id and r.kept)
             and not exists (select from set_type_module_types x
                              where x.tenant_id = $1 and x.set_type_id = i.type_id and x.mandatory
                                and not exists (select from resolved r where r.set_id = i.id and r.module_type_id = x.module_type_id)) as complete
       from input i),
   problem as (
     select p.problem, p.subject,
            array(select y.key from checked i
                    join set_type_module_types x on x.tenant_id = $1 and x.set_type_id = i.type_id and x.mandatory
                    join software_module_types y on y.tenant_id = $1 and y.id = x.module_type_id
                   where i.id = p.id and not exists (select from resolved r where r.set_id = i.id and r.module_type_id = y.id)
                   order by y.key) as "missingTypes",
            array(select r.called from resolved r where r.set_id = p.id and r.kept and not r.filled order by r.called) as "unfilledModules"
       from (select id, 1 as step, case when type_id is null then 'type-unknown' else 'type-deleted' end as problem,
                    coalesce(type, 'default') as subject
               from checked where type_id is null or type_deleted
             union all
             select i.id, 1, 'type-changed', i.type_id::text from checked i left join held h on h.id = i.type_id
              where i.type_id is not null and h.revision is distinct from i.type_revision
             union all
             select set_id, 2, 'module-unknown', module_id::text from resolved where found is null
             union all
             select set_id, 3, 'module-unsupported', module_id::text from resolved where found is not null and not allowed
             union all
             select i.id, 4, 'incomplete', i.name from checked i
              where i.locked and (not i.complete or exists (select from resolved r where r.set_id = i.id and r.kept and not r.filled))) p
      order by p.id, p.step, p.subject limit 1),
   stored as (
     insert into distribution_sets (tenant_id, id, type_id, name, version, description, complete, locked, migration_step, created_by,
                                    last_modified_by)
     select $1, id, type_id, name, version, description, complete, locked, "migrationStep", $3, $3
       from checked where not exists (select from problem)
     returning id, locked),
   modules_locked as (
     update software_modules m set locked = true, last_modified_by = $3, last_modified_at = now(), revision = m.revision + 1
       from (select l.id from software_modules l
              where l.tenant_id = $1 and not l.locked
                and l.id in (select r.module_id from resolved r join stored s on s.id = r.set_id where r.kept and s.locked)
              order by l.id for update) l
      where m.tenant_id = $1 and m.id = l.id),
   linked as (
     insert into set_modules (tenant_id, set_id, module_id, position)
     select $1, r.set_id, r.module_id, r.position from resolved r join stored s on s.id = r.set_id where r.kept)
   select problem, subject, "missingTypes", "unfilledModules" from problem`,
);
