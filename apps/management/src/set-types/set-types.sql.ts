import { statement } from "@harrier/db";
import { isRevision, type PageSource, type SoftDeletedMode, selectList, softDeletedPredicate } from "@harrier/query";
import { limitSql } from "../quotas/limits.sql.ts";
import { setTypeColumns, type TypeRow } from "../rows/type.ts";

export const setTypeList = (tenantId: number, mode: SoftDeletedMode): PageSource => ({
  from: "distribution_set_types",
  columns: setTypeColumns,
  where: `t.tenant_id = $1 and ${softDeletedPredicate[mode]}`,
  values: [tenantId],
});

export const findSetTypes = statement<[tenantId: number, ids: number[]], TypeRow>(
  "management.find_set_types",
  `select ${selectList(setTypeColumns)} from distribution_set_types t where t.tenant_id = $1 and t.id = any($2) order by t.id`,
);

/** This is the first type, in the order given, that cannot be created as requested. */
export interface SetTypeProblem {
  problem: "module-type-unknown" | "module-type-deleted" | "too-many";
  /** This is the id of the unknown module type, or how many there would be. */
  subject: string;
  /** This is the limit in force. */
  max: number;
}

/**
 * Inserts all types with their module types, or none, in one statement. `types` is `[{id, key, name, description, colour, mandatory: [id,
 * …], optional: [id, …]}]`. No row means that all are stored. A key or a name that is taken is a unique violation.
 */
export const insertSetTypes = statement<[tenantId: number, types: string, actor: string], SetTypeProblem>(
  "management.insert_set_types",
  `with input as (
     select * from jsonb_to_recordset($2::jsonb)
       as i(id bigint, key text, name text, description text, colour text, mandatory bigint[], optional bigint[])),
   wanted as ( -- what is in both lists ends up optional (contract management.md §4.5)
     select i.id as set_type_id, w.module_type_id, bool_and(w.mandatory) as mandatory
       from input i
       cross join lateral (select unnest(i.mandatory), true union all select unnest(i.optional), false) w (module_type_id, mandatory)
      group by i.id, w.module_type_id),
   max as (select ${limitSql("SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT")} as n),
   problem as (
     select p.problem, p.subject
       from (select w.set_type_id as id, 1 as step, w.module_type_id::text as subject,
                    case when m.id is null then 'module-type-unknown' else 'module-type-deleted' end as problem
               from wanted w left join software_module_types m on m.tenant_id = $1 and m.id = w.module_type_id
              where m.id is null or m.deleted
             union all
             select w.set_type_id, 2, count(*)::text, 'too-many'
               from wanted w cross join max m group by w.set_type_id, m.n having m.n > 0 and count(*) > m.n) p
      order by p.id, p.step, p.subject limit 1),
   stored as (
     insert into distribution_set_types (tenant_id, id, key, name, description, colour, created_by, last_modified_by)
     select $1, id, key, name, description, colour, $3, $3 from input where not exists (select from problem)
     returning id),
   listed as (
     insert into set_type_module_types (tenant_id, set_type_id, module_type_id, mandatory)
     select $1, w.set_type_id, w.module_type_id, w.mandatory from wanted w join stored s on s.id = w.set_type_id)
   select p.problem, p.subject, m.n as max from problem p cross join max m`,
);

/** Updates a type; members that are null stay as they are. There is no row where the type does not exist. */
export const updateSetType = statement<
  [tenantId: number, id: number, description: string | null, colour: string | null, actor: string, ifMatch: readonly number[] | null],
  TypeRow
>(
  "management.update_set_type",
  `update distribution_set_types t
      set description = coalesce($3, t.description), colour = coalesce($4, t.colour), last_modified_by = $5, last_modified_at = now(),
          revision = t.revision + 1
    where t.tenant_id = $1 and t.id = $2 and ${isRevision("t.revision", "$6")}
   returning ${selectList(setTypeColumns)}`,
);

/** Locks the type: no set of it can be created until the transaction ends, and creations that are under way are waited for. */
export const lockSetType = statement<[tenantId: number, id: number], { deleted: boolean; revision: number }>(
  "management.lock_set_type",
  "select deleted, revision from distribution_set_types where tenant_id = $1 and id = $2 for update",
);

/**
 * Says what uses the type. It runs after `lockSetType` in a statement of its own, because only then is every set of the type visible. It
 * locks the tenant, so that the type does not become its default meanwhile.
 */
export const readSetTypeUse = statement<[tenantId: number, id: number], { used: boolean; isDefault: boolean }>(
  "management.read_set_type_use",
  `with tenant as (select default_set_type_id from tenants where tenant_id = $1 for share)
   select exists (select from distribution_sets s where s.tenant_id = $1 and s.type_id = $2) as used,
          exists (select from tenant where default_set_type_id = $2) as "isDefault"`,
);

// Targets of these types get no new set of this type in either case (contract management.md §5.1).
const incompatible = "incompatible as (delete from target_type_set_types where tenant_id = $1 and set_type_id = $2)";

/** Deletes a type softly: it can still be read, is hidden from lists, its key and name stay taken, and no new set can be of it. */
export const softDeleteSetType = statement<[tenantId: number, id: number, actor: string], unknown>(
  "management.soft_delete_set_type",
  `with ${incompatible}
   update distribution_set_types
      set deleted = true, last_modified_by = $3, last_modified_at = now(), revision = revision + 1
    where tenant_id = $1 and id = $2`,
);

/** Deletes the type together with its lists. */
export const deleteSetType = statement<[tenantId: number, id: number], unknown>(
  "management.delete_set_type",
  "delete from distribution_set_types where tenant_id = $1 and id = $2",
);
