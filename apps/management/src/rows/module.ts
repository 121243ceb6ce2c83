import { type AuditRow, auditColumns, type Columns } from "@harrier/query";
import { moduleComplete } from "./complete.ts";

/** This is a software module as the interface shows it (spec 001 §2.3). */
export interface ModuleRow extends AuditRow {
  id: number;
  name: string;
  version: string;
  description: string | null;
  vendor: string | null;
  typeId: number;
  typeKey: string;
  typeName: string;
  encrypted: boolean;
  locked: boolean;
  deleted: boolean;
  complete: boolean;
  revision: number;
}

/** These are columns over a `software_modules` row and its type. */
export const moduleColumns = (module: string, type: string): Columns => ({
  id: `${module}.id`,
  name: `${module}.name`,
  version: `${module}.version`,
  description: `${module}.description`,
  vendor: `${module}.vendor`,
  typeId: `${module}.type_id`,
  typeKey: `${type}.key`,
  typeName: `${type}.name`,
  encrypted: `${module}.encrypted`,
  locked: `${module}.locked`,
  deleted: `${module}.deleted`,
  complete: moduleComplete(module, type),
  revision: `${module}.revision`,
  ...auditColumns(module),
});

/** These are the joins that `moduleColumns("t", "mt")` needs behind a relation `t` of software modules. */
export const moduleJoins = "left join software_module_types mt on mt.tenant_id = t.tenant_id and mt.id = t.type_id";
