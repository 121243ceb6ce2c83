import type { RolloutGroupView } from "@harrier/contracts";
import { auditOf, optional } from "@harrier/query";
import { percentOf } from "../domain/thresholds.ts";
import { safetyOf, totalsOf } from "../lists/totals.ts";
import type { GroupRow } from "./groups.sql.ts";

/** Shows a group (spec 001 §2.6). The full form is for single answers and for lists that ask for it (contract rollouts.md §2.3). */
export function groupJson(base: string, rolloutId: number, row: GroupRow, full: boolean): RolloutGroupView {
  return {
    ...auditOf(row),
    id: row.id,
    name: row.name,
    ...optional("description", row.description),
    status: row.status,
    targetPercentage: row.targetCount ?? row.targetPercentage,
    targetFilterQuery: row.targetFilter,
    totalTargets: row.totalTargets,
    dynamic: row.dynamic,
    successCondition: { condition: "THRESHOLD", expression: row.successExpression },
    successAction: { action: row.successAction, expression: row.successActionExpression },
    errorCondition: { condition: "THRESHOLD", expression: row.errorExpression },
    errorAction: { action: "PAUSE", expression: row.errorActionExpression },
    ...(row.consentFlow ? { confirmationRequired: row.confirmationRequired } : {}),
    ...(full ? fullMembers(row) : {}),
    _links: { self: { href: `${base}/rollouts/${rolloutId}/deploygroups/${row.id}` } },
  };
}

function fullMembers({ totalTargets, counts, startedAt, finishedAt, safety }: GroupRow) {
  return {
    totalTargetsPerStatus: totalsOf(totalTargets, counts),
    ...optional("startedAt", startedAt),
    ...optional("finishedAt", finishedAt),
    ...optional("successPercent", percentOf(counts.finished, totalTargets)),
    ...optional("errorPercent", percentOf(counts.error, totalTargets)),
    ...safetyOf({ safety, counts }),
  };
}
