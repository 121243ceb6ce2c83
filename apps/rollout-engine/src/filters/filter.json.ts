import { forceTypeNames, type TargetFilterView } from "@harrier/contracts";
import type { FilterRow } from "./filters.sql.ts";

/** Links beside `self` (contract management.md §1.5): to the auto-assignment, and to the set that is assigned. */
export interface FilterLinks {
  autoAssign?: boolean;
  set?: boolean;
}

/** spec 001 §2.7; every member is there, null where there is nothing (contract management.md §4.10). */
export function filterJson(base: string, row: FilterRow, show: FilterLinks = {}): TargetFilterView {
  const self = `${base}/targetfilters/${row.id}`;
  const assigns = row.setId !== null;
  return {
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    lastModifiedBy: row.lastModifiedBy,
    lastModifiedAt: row.lastModifiedAt,
    id: row.id,
    name: row.name,
    query: row.query,
    autoAssignDistributionSet: row.setId,
    autoAssignActionType: assigns ? (forceTypeNames[row.forceType] ?? "forced") : null,
    autoAssignWeight: assigns ? row.weight : null,
    confirmationRequired: assigns && row.consentFlow ? row.confirmationRequired : null,
    ...(assigns && row.maintenanceWindow ? { autoAssignMaintenanceWindow: row.maintenanceWindow } : {}),
    ...(assigns ? approvalOf(row) : {}),
    ...(row.lastError === null ? {} : { lastError: row.lastError }),
    _links: {
      self: { href: self },
      ...(show.autoAssign ? { autoAssignDS: { href: `${self}/autoAssignDS` } } : {}),
      ...(show.set && assigns ? { DS: { href: setHref(base, row) } } : {}),
    },
  };
}

/** Only where an approval was asked for: clients of others see the filter that they know. */
function approvalOf({
  status,
  decidedBy,
  remark,
}: FilterRow): Pick<TargetFilterView, "autoAssignStatus" | "approveDecidedBy" | "approvalRemark"> {
  return {
    ...(status === "running" && decidedBy === null ? {} : { autoAssignStatus: status }),
    ...(decidedBy === null || status === "waiting_for_approval"
      ? {}
      : { approveDecidedBy: decidedBy, ...(remark === null ? {} : { approvalRemark: remark }) }),
  };
}

/** The set as a list that has it alone (contract management.md §1.4). */
function setHref(base: string, row: FilterRow): string {
  const q = `name==${literal(row.setName)};version==${literal(row.setVersion)}`;
  return `${base}/distributionsets?offset=0&limit=50&q=${encodeURIComponent(q)}`;
}

/** A text as a value of a query that means it and nothing else. */
function literal(text: string): string {
  if (/^[\w.+-]+$/.test(text)) return text;
  // within quotes a backslash takes the next character as it is; an asterisk needs one of its own that is left then
  return `"${text.replaceAll(/[\\"]/g, "\\$&").replaceAll("*", "\\\\*")}"`;
}
