import { statement } from "@harrier/db";
import { inScope, isRevision, type PageSource, type Scope, selectList } from "@harrier/query";
import { limitSql } from "../quotas/limits.sql.ts";
import { setTypeColumns, type TargetTypeRow, type TypeRow, targetTypeColumns } from "../rows/type.ts";

export const targetTypeList = (tenantId: number, scope: Scope): PageSource => ({
  from: "target_types",
  columns: targetTypeColumns,
  where: `t.tenant_id = $1 and ${inScope("t.id", "$2")}`,
  values: [tenantId, scope],
});

export const findTargetTypes = statement<[tenantId: number, ids: number[]], TargetTypeRow>(
  "management.find_target_types",
  `select ${selectList(targetTypeColumns)} from target_types t where t.tenant_id = $1 and t.id = any($2) order by t.id`,
);

/** This is what stops a write: a set type that does not exist or is deleted, or too many of them. */
export interface TargetTypeProblem {
  problem: "set-type-unknown" | "set-type-deleted" | "too-many";
  /** This is the id of the set type, or how many would be added. */
  subject: string;
  /** This is the limit in force. */
  max: number;
}

/**
 * Inserts all types with the set types that they list, or none. `types` is `[{id, key, name, description, colour, evidence, compatible: [id, …]}]`.
 * No row means that all are stored. A key or a name that is taken is a unique violation.
 */
export const insertTargetTypes = statement<[tenantId: number, types: string, actor: string], TargetTypeProblem>(
  "management.insert_target_types",
  `with input as (
     select * from jsonb_to_recordset($2::jsonb)
       as i(id bigint, key text, name text, description text, colour text, evidence jsonb, compatible bigint[])),
   wanted as (
     select distinct i.id as target_type_id, w.set_type_id from input i cross join unnest(i.compatible) as w(set_type_id)),
   max as (select ${limitSql("DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT")} as n),
   problem as (
     select p.problem, p.subject
       from (select w.target_type_id as id, 1 as step, w.set_type_id::text as subject,
                    case when y.id is null then 'set-type-unknown' else 'set-type-deleted' end as problem
               from wanted w left join distribution_set_types y on y.tenant_id = $1 and y.id = w.set_type_id
              where y.id is null or y.deleted
             union all
             select w.target_type_id, 2, count(*)::text, 'too-many'
               from wanted w cross join max m group by w.target_type_id, m.n having m.n > 0 and count(*) > m.n) p
      order by p.id, p.step, p.subject limit 1),
   stored as (
     insert into target_types (tenant_id, id, key, name, description, colour, evidence, created_by, last_modified_by)
     select $1, id, key, name, description, colour, coalesce(evidence, '[]'), $3, $3 from input where not exists (select from problem)
     returning id),
   listed as (
     insert into target_type_set_types (tenant_id, target_type_id, set_type_id)
     select $1, w.target_type_id, w.set_type_id from wanted w join stored s on s.id = w.target_type_id)
   select p.problem, p.subject, m.n as max from problem p cross join max m`,
);

/** Updates a type; members that are null stay as they are. There is no row where the type does not exist. */
export const updateTargetType = statement<
  [
    tenantId: number,
    id: number,
    name: string | null,
    description: string | null,
    colour: string | null,
    actor: string,
    evidence: string | null,
    ifMatch: readonly number[] | null,
  ],
  TargetTypeRow
>(
  "management.update_target_type",
  `update target_types t
      set name = coalesce($3, t.name), description = coalesce($4, t.description), colour = coalesce($5, t.colour),
          evidence = coalesce($7::jsonb, t.evidence), last_modified_by = $6, last_modified_at = now(), revision = t.revision + 1
    where t.tenant_id = $1 and t.id = $2 and ${isRevision("t.revision", "$8")}
   returning ${selectList(targetTypeColumns)}`,
);

/** Deletes a type that no target is of; there is no row for an unknown type. */
export const deleteTargetType = statement<[tenantId: number, id: number, ifMatch: readonly number[] | null], { deleted: boolean }>(
  "management.delete_target_type",
  `with found as (
     select t.id, exists (select from controller.targets_v1 g where g.tenant_id = $1 and g.target_type_id = t.id) as used
       from target_types t where t.tenant_id = $1 and t.id = $2 and ${isRevision("t.revision", "$3")} for update),
   gone as (
     delete from target_types t using found f where t.tenant_id = $1 and t.id = f.id and not f.used returning t.id)
   select exists (select from gone) as deleted from found`,
);

/** Lists the set types that targets of a type may get; a type that lists none gives one row with `id` null, an unknown type none. */
export const readCompatible = statement<[tenantId: number, id: number], TypeRow | { id: null }>(
  "management.read_compatible",
  `select ${selectList(setTypeColumns)}
     from target_types y
     left join target_type_set_types x on x.tenant_id = y.tenant_id and x.target_type_id = y.id
     left join distribution_set_types t on t.tenant_id = x.tenant_id and t.id = x.set_type_id
    where y.tenant_id = $1 and y.id = $2 order by t.id`,
);

/** Locks the type, so that changes of what it lists run one after the other. */
export const lockTargetType = statement<[tenantId: number, id: number], { id: number }>(
  "management.lock_target_type",
  "select id from target_types where tenant_id = $1 and id = $2 for no key update",
);

const touched = `update target_types set last_modified_by = $4, last_modified_at = now(), revision = revision + 1
      where tenant_id = $1 and id = $2 and exists (select from changed)`;

/** Adds all set types or none, under `lockTargetType`; one that is listed already stays. No row means that all are stored. */
export const addCompatible = statement<[tenantId: number, id: number, setTypes: number[], actor: string], TargetTypeProblem>(
  "management.add_compatible",
  `with wanted as (
     select distinct w.set_type_id, y.id as found, y.deleted
       from unnest($3::bigint[]) as w(set_type_id)
       left join distribution_set_types y on y.tenant_id = $1 and y.id = w.set_type_id),
   listed as (
     select set_type_id from target_type_set_types where tenant_id = $1 and target_type_id = $2),
   added as (
     select set_type_id from wanted except select set_type_id from listed),
   max as (select ${limitSql("DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT")} as n),
   problem as (
     select p.problem, p.subject
       from (select 1 as step, set_type_id::text as subject,
                    case when found is null then 'set-type-unknown' else 'set-type-deleted' end as problem
               from wanted where found is null or deleted
             union all
             select 2, a.n::text, 'too-many' from (select count(*) as n from added) a cross join max m
              where m.n > 0 and a.n > 0 and a.n + (select count(*) from listed) > m.n) p
      order by p.step, p.subject limit 1),
   changed as (
     insert into target_type_set_types (tenant_id, target_type_id, set_type_id)
     select $1, $2, set_type_id from wanted where not exists (select from problem)
     on conflict do nothing returning set_type_id),
   touched as (
     ${touched})
   select p.problem, p.subject, m.n as max from problem p cross join max m`,
);

/** Says whether the set type exists; it is no error that it is not listed. */
export const removeCompatible = statement<[tenantId: number, id: number, setTypeId: number, actor: string], { known: boolean }>(
  "management.remove_compatible",
  `with changed as (
     delete from target_type_set_types where tenant_id = $1 and target_type_id = $2 and set_type_id = $3 returning set_type_id),
   touched as (
     ${touched})
   select exists (select from distribution_set_types y where y.tenant_id = $1 and y.id = $3) as known`,
);
