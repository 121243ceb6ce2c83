import { forceTypeNames, type RolloutView, type StatusReasonView } from "@harrier/contracts";
import { auditOf, optional } from "@harrier/query";
import { safetyOf, totalsOf } from "../lists/totals.ts";
import type { RolloutRow, StatusReason } from "./rollouts.sql.ts";

/** Shows a rollout (spec 001 §2.6). The full form is for single answers and for lists that ask for it (contract rollouts.md §2.3). */
export function rolloutJson(base: string, row: RolloutRow, full: boolean): RolloutView {
  const self = `${base}/rollouts/${row.id}`;
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    ...optional("description", row.description),
    targetFilterQuery: row.targetFilter,
    distributionSetId: row.setId,
    status: row.status,
    totalTargets: row.totalTargets,
    deleted: row.deleted,
    dynamic: row.dynamic,
    type: forceTypeNames[row.forceType] ?? "forced",
    forcetime: row.forceTime,
    weight: row.weight,
    ...optional("lastError", row.lastError),
    ...(full ? fullMembers(row) : {}),
    _links: { ...(full ? fullLinks(base, self, row) : {}), self: { href: self } },
  };
}

function fullMembers(row: RolloutRow) {
  return {
    totalTargetsPerStatus: totalsOf(row.totalTargets, row.counts),
    totalGroups: row.totalGroups,
    ...optional("startAt", row.startAt),
    ...optional("approveDecidedBy", row.approveDecidedBy),
    ...optional("approvalRemark", row.approvalRemark),
    ...optional("maintenanceWindow", row.maintenanceWindow),
    ...safetyOf(row),
    ...optional("startedAt", row.startedAt),
    ...optional("finishedAt", row.finishedAt),
    ...optional("statusReason", row.statusReason && statusReasonView(row.statusReason)),
    distributionSet: { id: row.setId, name: row.setName, version: row.setVersion },
  };
}

function statusReasonView({ reason, actor, at, groupId, value, limit }: StatusReason): StatusReasonView {
  return {
    ...optional("reason", reason),
    actor,
    at,
    ...optional("groupId", groupId),
    ...optional("value", value),
    ...optional("limit", limit),
  };
}

/** Answers all links in every status, because clients expect them whether the operation is possible now or not. */
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
