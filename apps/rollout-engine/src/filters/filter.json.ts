import { forceTypeNames, type TargetFilterView } from "@harrier/contracts";
import { auditOf, optional } from "@harrier/query";
import type { FilterRow } from "./filters.sql.ts";

/** The links beside `self` (contract management.md §1.5) lead to the auto-assignment and to the set that is assigned. */
export interface FilterLinks {
  autoAssign?: boolean;
  set?: boolean;
}

/** Shows a filter (spec 001 §2.7) with every member; one without a value is null (contract management.md §4.10). */
export function filterJson(base: string, row: FilterRow, show: FilterLinks = {}): TargetFilterView {
  const self = `${base}/targetfilters/${row.id}`;
  const assigns = row.setId !== null;
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    query: row.query,
    autoAssignDistributionSet: row.setId,
    autoAssignActionType: assigns ? (forceTypeNames[row.forceType] ?? "forced") : null,
    autoAssignWeight: assigns ? row.weight : null,
    confirmationRequired: assigns && row.consentFlow ? row.confirmationRequired : null,
    ...(assigns && row.maintenanceWindow ? { autoAssignMaintenanceWindow: row.maintenanceWindow } : {}),
    ...(assigns && row.safety ? { autoAssignSafety: row.safety } : {}),
    ...(assigns ? approvalOf(row) : {}),
    ...optional("lastError", row.lastError),
    _links: {
      self: { href: self },
      ...(show.autoAssign ? { autoAssignDS: { href: `${self}/autoAssignDS` } } : {}),
      ...(show.set && assigns ? { DS: { href: setHref(base, row) } } : {}),
    },
  };
}

/** Shows the approval only if one was requested, because existing clients do not know its members. */
function approvalOf({
  status,
  decidedBy,
  remark,
}: FilterRow): Pick<TargetFilterView, "autoAssignStatus" | "approveDecidedBy" | "approvalRemark"> {
  return {
    ...(status === "running" && decidedBy === null ? {} : { autoAssignStatus: status }),
    ...(decidedBy === null || status === "waiting_for_approval"
      ? {}
      : { approveDecidedBy: decidedBy, ...optional("approvalRemark", remark) }),
  };
}

/** Links to the list that contains only this set (contract management.md §1.4). */
function setHref(base: string, row: FilterRow): string {
  const q = `name==${literal(row.setName)};version==${literal(row.setVersion)}`;
  return `${base}/distributionsets?offset=0&limit=50&q=${encodeURIComponent(q)}`;
}

/** Quotes a text so that a query matches exactly this text. */
function literal(text: string): string {
  if (/^[\w.+-]+$/.test(text)) return text;
  // within quotes a backslash takes the next character literally; an asterisk needs a backslash that remains after that
  return `"${text.replaceAll(/[\\"]/g, "\\$&").replaceAll("*", "\\\\*")}"`;
}
