import { type AuditRow, auditColumns, type Columns, jsonObject } from "@harrier/query";
import { setComplete } from "./complete.ts";
import { type ModuleRow, moduleColumns } from "./module.ts";

/** This is a distribution set with its modules (spec 001 §2.2). */
export interface SetRow extends AuditRow {
  id: number;
  name: string;
  version: string;
  description: string | null;
  typeId: number;
  typeKey: string;
  typeName: string;
  complete: boolean;
  locked: boolean;
  deleted: boolean;
  valid: boolean;
  migrationStep: boolean;
  revision: number;
  modules: ModuleRow[];
}

/** These are columns over a `distribution_sets` row `t` and its type `st`; they include the modules in the order in which they were attached. */
export const setColumns: Columns = {
  id: "t.id",
  name: "t.name",
  version: "t.version",
  description: "t.description",
  typeId: "t.type_id",
  typeKey: "st.key",
  typeName: "st.name",
  complete: setComplete("t"),
  locked: "t.locked",
  deleted: "t.deleted",
  valid: "t.valid",
  migrationStep: "t.migration_step",
  revision: "t.revision",
  ...auditColumns("t"),
  modules: `(select coalesce(jsonb_agg(${jsonObject(moduleColumns("m", "mt"))} order by sm.position, m.id), '[]'::jsonb)
     from set_modules sm
     join software_modules m on m.tenant_id = sm.tenant_id and m.id = sm.module_id
     join software_module_types mt on mt.tenant_id = m.tenant_id and mt.id = m.type_id
    where sm.tenant_id = t.tenant_id and sm.set_id = t.id)`,
};

/** These are the joins that `setColumns` needs behind a relation `t` of distribution sets. */
export const setJoins = "left join distribution_set_types st on st.tenant_id = t.tenant_id and st.id = t.type_id";
