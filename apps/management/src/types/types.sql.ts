import { statement } from "@harrier/db";
import type { PageSource } from "../lists/page.sql.ts";
import { type SoftDeletedMode, softDeletedPredicate } from "../lists/soft-deleted.ts";
import { type AuditRow, auditColumns, type Columns, selectList } from "../rows/columns.ts";

export interface SetTypeRow extends AuditRow {
  id: number;
  key: string;
  name: string;
  description: string | null;
  colour: string | null;
  deleted: boolean;
}

export interface ModuleTypeRow extends SetTypeRow {
  maxAssignments: number;
}

const setTypeColumns: Columns = {
  id: "t.id",
  key: "t.key",
  name: "t.name",
  description: "t.description",
  colour: "t.colour",
  deleted: "t.deleted",
  ...auditColumns("t"),
};
const moduleTypeColumns: Columns = { ...setTypeColumns, maxAssignments: "t.max_assignments" };

const listOf =
  (from: string, columns: Columns) =>
  (tenantId: number, mode: SoftDeletedMode): PageSource => ({
    from,
    columns,
    where: `t.tenant_id = $1 and ${softDeletedPredicate[mode]}`,
    values: [tenantId],
  });

export const moduleTypeList = listOf("software_module_types", moduleTypeColumns);
export const setTypeList = listOf("distribution_set_types", setTypeColumns);

export const findModuleType = statement<[tenantId: number, id: number], ModuleTypeRow>(
  "management.find_module_type",
  `select ${selectList(moduleTypeColumns)} from software_module_types t where t.tenant_id = $1 and t.id = $2`,
);

export const findSetType = statement<[tenantId: number, id: number], SetTypeRow>(
  "management.find_set_type",
  `select ${selectList(setTypeColumns)} from distribution_set_types t where t.tenant_id = $1 and t.id = $2`,
);
