import { statement } from "@harrier/db";
import { isRevision, type PageSource, type SoftDeletedMode, selectList, softDeletedPredicate } from "@harrier/query";
import { type ModuleTypeRow, moduleTypeColumns } from "../rows/type.ts";

export const moduleTypeList = (tenantId: number, mode: SoftDeletedMode): PageSource => ({
  from: "software_module_types",
  columns: moduleTypeColumns,
  where: `t.tenant_id = $1 and ${softDeletedPredicate[mode]}`,
  values: [tenantId],
});

export const findModuleType = statement<[tenantId: number, id: number], ModuleTypeRow>(
  "management.find_module_type",
  `select ${selectList(moduleTypeColumns)} from software_module_types t where t.tenant_id = $1 and t.id = $2`,
);

/** Inserts all types or, where a key or a name is taken, none. `types` is `[{id, key, name, description, colour, maxAssignments, minArtifacts}]`. */
export const insertModuleTypes = statement<[tenantId: number, types: string, actor: string], ModuleTypeRow>(
  "management.insert_module_types",
  `with t as (
     insert into software_module_types (tenant_id, id, key, name, description, colour, max_assignments, min_artifacts, created_by,
                                        last_modified_by)
     select $1, x.id, x.key, x.name, x.description, x.colour, x."maxAssignments", x."minArtifacts", $3, $3
       from jsonb_to_recordset($2::jsonb)
         as x(id bigint, key text, name text, description text, colour text, "maxAssignments" int, "minArtifacts" int)
     returning *)
   select ${selectList(moduleTypeColumns)} from t order by t.id`,
);

/** Updates a type; members that are null stay as they are. There is no row where the type does not exist. */
export const updateModuleType = statement<
  [
    tenantId: number,
    id: number,
    description: string | null,
    colour: string | null,
    minArtifacts: number | null,
    actor: string,
    ifMatch: readonly number[] | null,
  ],
  ModuleTypeRow
>(
  "management.update_module_type",
  `update software_module_types t
      set description = coalesce($3, t.description), colour = coalesce($4, t.colour),
          min_artifacts = coalesce($5, t.min_artifacts), last_modified_by = $6, last_modified_at = now(), revision = t.revision + 1
    where t.tenant_id = $1 and t.id = $2 and ${isRevision("t.revision", "$7")}
   returning ${selectList(moduleTypeColumns)}`,
);

/** Locks the type for its deletion: no module and no set type can refer to it until the transaction ends. */
export const lockModuleType = statement<[tenantId: number, id: number], { deleted: boolean; revision: number }>(
  "management.lock_module_type",
  "select deleted, revision from software_module_types where tenant_id = $1 and id = $2 for update",
);

/**
 * Says what refers to the type. It runs after `lockModuleType` in a statement of its own, because only then is everything that refers to it
 * visible.
 */
export const readModuleTypeUse = statement<[tenantId: number, id: number], { used: boolean }>(
  "management.read_module_type_use",
  `select exists (select from software_modules m where m.tenant_id = $1 and m.type_id = $2)
       or exists (select from set_type_module_types x where x.tenant_id = $1 and x.module_type_id = $2) as used`,
);

/** Deletes a type softly: it can still be read, is hidden from lists, its key and name stay taken, and nothing new can be of it. */
export const softDeleteModuleType = statement<[tenantId: number, id: number, actor: string], unknown>(
  "management.soft_delete_module_type",
  `update software_module_types
      set deleted = true, last_modified_by = $3, last_modified_at = now(), revision = revision + 1
    where tenant_id = $1 and id = $2`,
);

export const deleteModuleType = statement<[tenantId: number, id: number], unknown>(
  "management.delete_module_type",
  "delete from software_module_types where tenant_id = $1 and id = $2",
);
