import { forceTypeNames, type RolloutView } from "@harrier/contracts";
import { totalsOf } from "../lists/totals.ts";
import type { RolloutRow } from "./rollouts.sql.ts";

/** spec 001 §2.6; the full form stands alone and in lists that ask for it (contract rollouts.md §2.3). */
export function rolloutJson(base: string, row: RolloutRow, full: boolean): RolloutView {
  const self = `${base}/rollouts/${row.id}`;
  return {
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    lastModifiedBy: row.lastModifiedBy,
    lastModifiedAt: row.lastModifiedAt,
    id: row.id,
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    targetFilterQuery: row.targetFilter,
    distributionSetId: row.setId,
    status: row.status,
    totalTargets: row.totalTargets,
    deleted: row.deleted,
    dynamic: row.dynamic,
    type: forceTypeNames[row.forceType] ?? "forced",
    forcetime: row.forceTime,
    weight: row.weight,
    ...(row.lastError === null ? {} : { lastError: row.lastError }),
    ...(full ? fullMembers(row) : {}),
    _links: { ...(full ? fullLinks(base, self, row) : {}), self: { href: self } },
  };
}

function fullMembers(row: RolloutRow) {
  return {
    totalTargetsPerStatus: totalsOf(row.totalTargets, row.counts),
    totalGroups: row.totalGroups,
    ...(row.startAt === null ? {} : { startAt: row.startAt }),
    ...(row.approveDecidedBy === null ? {} : { approveDecidedBy: row.approveDecidedBy }),
    ...(row.approvalRemark === null ? {} : { approvalRemark: row.approvalRemark }),
    ...(row.maintenanceWindow === null ? {} : { maintenanceWindow: row.maintenanceWindow }),
  };
}

/** All of them in every status: clients look for the operation, not for whether it is possible now. */
function fullLinks(base: string, self: string, row: RolloutRow) {
  return {
    start: { href: `${self}/start` },
    pause: { href: `${self}/pause` },
    resume: { href: `${self}/resume` },
    triggerNextGroup: { href: `${self}/triggerNextGroup` },
    approve: { href: `${self}/approve` },
    deny: { href: `${self}/deny` },
    groups: { href: `${self}/deploygroups?offset=0&limit=50` },
    distributionset: { href: `${base}/distributionsets/${row.setId}`, name: `${row.setName}:${row.setVersion}` },
  };
}
