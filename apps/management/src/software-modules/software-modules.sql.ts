import { statement } from "@harrier/db";
import { isRevision, type PageSource, type SoftDeletedMode, selectList, softDeletedPredicate } from "@harrier/query";
import { type ModuleRow, moduleColumns, moduleJoins } from "../rows/module.ts";
import { bumpSets } from "../rows/set-revision.ts";

const columns = moduleColumns("t", "mt");

export const moduleList = (tenantId: number, mode: SoftDeletedMode): PageSource => ({
  from: "software_modules",
  columns,
  joins: moduleJoins,
  where: `t.tenant_id = $1 and ${softDeletedPredicate[mode]}`,
  values: [tenantId],
});

export const findModules = statement<[tenantId: number, ids: number[]], ModuleRow>(
  "management.find_modules",
  `select ${selectList(columns)} from software_modules t ${moduleJoins} where t.tenant_id = $1 and t.id = any($2) order by t.id`,
);

/** This is the first module, in the order given, whose type does not exist or is deleted. */
export interface ModuleProblem {
  problem: "type-unknown" | "type-deleted";
  type: string;
}

/**
 * Inserts all modules or none. `modules` is `[{id, name, version, type, description, vendor}]`. No row means that all are stored. A name
 * that is taken is a unique violation.
 */
export const insertModules = statement<[tenantId: number, modules: string, actor: string], ModuleProblem>(
  "management.insert_modules",
  `with input as (
     select i.*, y.id as type_id, y.deleted as type_deleted
       from jsonb_to_recordset($2::jsonb) as i(id bigint, name text, version text, type text, description text, vendor text)
       left join software_module_types y on y.tenant_id = $1 and y.key = i.type),
   problem as (
     select id, case when type_id is null then 'type-unknown' else 'type-deleted' end as problem, type
       from input where type_id is null or type_deleted order by id limit 1),
   stored as (
     insert into software_modules (tenant_id, id, type_id, name, version, description, vendor, created_by, last_modified_by)
     select $1, id, type_id, name, version, description, vendor, $3, $3 from input where not exists (select from problem))
   select problem, type from problem`,
);

/** Updates a module; members that are null stay as they are. There is one row, or none where the module does not exist. */
export const updateModule = statement<
  [
    tenantId: number,
    id: number,
    description: string | null,
    vendor: string | null,
    locked: boolean | null,
    actor: string,
    ifMatch: readonly number[] | null,
  ],
  { id: number }
>(
  "management.update_module",
  `with changed as (
     update software_modules m
        set description = coalesce($3, m.description), vendor = coalesce($4, m.vendor), locked = coalesce($5, m.locked),
            last_modified_by = $6, last_modified_at = now(), revision = m.revision + 1
      where m.tenant_id = $1 and m.id = $2 and ${isRevision("m.revision", "$7")}
     returning m.id),
   ${bumpSets}
   select id from changed`,
);

export interface ModuleUse {
  deleted: boolean;
  /** The module is in a locked set that is not deleted, and therefore cannot be deleted. */
  inLockedSet: boolean;
  /** The module is in some set, deleted ones included. */
  inSet: boolean;
}

/** Locks the module for its deletion: until the transaction ends no set can get it and no upload can end. */
export const lockModule = statement<[tenantId: number, id: number], { deleted: boolean; revision: number }>(
  "management.lock_module",
  "select deleted, revision from software_modules where tenant_id = $1 and id = $2 for update",
);

/** Says whether sets have the module. It runs after `lockModule` in a statement of its own, because only then is every such set visible. */
export const readModuleUse = statement<[tenantId: number, id: number], ModuleUse>(
  "management.read_module_use",
  `select m.deleted,
          exists (select from set_modules sm join distribution_sets s on s.tenant_id = sm.tenant_id and s.id = sm.set_id
                   where sm.tenant_id = m.tenant_id and sm.module_id = m.id and s.locked and not s.deleted) as "inLockedSet",
          exists (select from set_modules sm where sm.tenant_id = m.tenant_id and sm.module_id = m.id) as "inSet"
     from software_modules m where m.tenant_id = $1 and m.id = $2`,
);

// The bytes of a deleted module are released in both cases (contract management.md §5.1).
const releaseArtifacts = `given_back as (
     select a.id, a.sha256, a.size from artifacts a where a.tenant_id = $1 and a.module_id = $2),
   storage as (
     update tenants set artifact_bytes = artifact_bytes - g.size
       from (select coalesce(sum(size), 0) as size, count(*) as n from given_back) g where tenant_id = $1 and g.n > 0),
   releases as (
     insert into operations (tenant_id, kind, payload)
     select $1, 'release-artifact', jsonb_build_object('artifactId', id, 'sha256', sha256) from given_back)`;

/** Deletes a module softly: it stays readable, and its name stays taken, because sets show it. */
export const softDeleteModule = statement<[tenantId: number, id: number, actor: string], { id: number }>(
  "management.soft_delete_module",
  `with ${releaseArtifacts},
   changed as (
     update software_modules m
        set deleted = true, last_modified_by = $3, last_modified_at = now(), revision = m.revision + 1
      where m.tenant_id = $1 and m.id = $2 and not m.deleted
     returning m.id),
   ${bumpSets}
   select id from changed`,
);

/** Deletes the module with its metadata and its artifact rows. */
export const deleteModule = statement<[tenantId: number, id: number], { id: number }>(
  "management.delete_module",
  `with ${releaseArtifacts}
   delete from software_modules where tenant_id = $1 and id = $2 returning id`,
);
