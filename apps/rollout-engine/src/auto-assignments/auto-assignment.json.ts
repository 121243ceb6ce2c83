import { type AutoAssignmentView, forceTypeNames } from "@harrier/contracts";
import { auditOf, optional } from "@harrier/query";
import type { AutoAssignStatus } from "../filters/approval.sql.ts";
import type { AutoAssignmentRow } from "./auto-assignments.sql.ts";

/** Lists the links of each state: what may be done in it. */
const steps: Readonly<Record<AutoAssignStatus, readonly ("approve" | "deny" | "start" | "pause" | "resume")[]>> = {
  waiting_for_approval: ["approve", "deny"],
  approval_denied: [],
  ready: ["start"],
  running: ["pause"],
  paused: ["resume"],
};

/** Shows an auto-assignment as hawkBit's newest interface does (contract management.md §11). */
export function autoAssignmentJson(base: string, row: AutoAssignmentRow): AutoAssignmentView {
  const self = `${base}/autoassignments/${row.id}`;
  const set = { href: `${base}/distributionsets/${row.setId}`, name: `${row.setName}:${row.setVersion}` };
  const { description, startAt, decidedBy, remark, status, lastError, safety } = row;
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    ...optional("description", description),
    targetFilterQuery: row.query,
    distributionSetId: row.setId,
    status,
    ...optional("startAt", startAt),
    actionType: forceTypeNames[row.forceType] ?? "forced",
    weight: row.weight,
    confirmationRequired: row.confirmationRequired,
    ...optional("safety", safety),
    ...optional("approvalDecidedBy", decidedBy),
    ...optional("approvalRemark", remark),
    ...optional("lastError", lastError),
    _links: {
      self: { href: self },
      ...Object.fromEntries(steps[status].map((step) => [step, { href: `${self}/${step}` }])),
      distributionset: set,
    },
  };
}
