import { type AutoAssignmentView, forceTypeNames } from "@harrier/contracts";
import type { AutoAssignStatus } from "../filters/approval.sql.ts";
import type { AutoAssignmentRow } from "./auto-assignments.sql.ts";

/** What may be done in each state. */
const steps: Readonly<Record<AutoAssignStatus, readonly ("approve" | "deny" | "start" | "pause" | "resume")[]>> = {
  waiting_for_approval: ["approve", "deny"],
  approval_denied: [],
  ready: ["start"],
  running: ["pause"],
  paused: ["resume"],
};

/** An auto-assignment as hawkBit's newest interface shows it (contract management.md §11). */
export function autoAssignmentJson(base: string, row: AutoAssignmentRow): AutoAssignmentView {
  const self = `${base}/autoassignments/${row.id}`;
  const set = { href: `${base}/distributionsets/${row.setId}`, name: `${row.setName}:${row.setVersion}` };
  const { description, startAt, decidedBy, remark, status, lastError } = row;
  return {
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    lastModifiedBy: row.lastModifiedBy,
    lastModifiedAt: row.lastModifiedAt,
    id: row.id,
    name: row.name,
    ...(description === null ? {} : { description }),
    targetFilterQuery: row.query,
    distributionSetId: row.setId,
    status,
    ...(startAt === null ? {} : { startAt }),
    actionType: forceTypeNames[row.forceType] ?? "forced",
    weight: row.weight,
    confirmationRequired: row.confirmationRequired,
    ...(decidedBy === null ? {} : { approvalDecidedBy: decidedBy }),
    ...(remark === null ? {} : { approvalRemark: remark }),
    ...(lastError === null ? {} : { lastError }),
    _links: {
      self: { href: self },
      ...Object.fromEntries(steps[status].map((step) => [step, { href: `${self}/${step}` }])),
      distributionset: set,
    },
  };
}
