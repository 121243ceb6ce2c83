import { page, type RolloutStep, rolloutTimelines } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { optional, readPage } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { totalsOf } from "../lists/totals.ts";
import { checkReach } from "../rollouts/check-reach.ts";
import type { ReadDeps } from "../rollouts/read-rollouts.ts";
import { type StepRow, stepList } from "./timeline.sql.ts";

function stepJson({ sequence, at, actor, status, totalTargets, counts, ...row }: StepRow): RolloutStep {
  return {
    sequence,
    at,
    actor,
    ...optional("group", row.group),
    ...optional("previousStatus", row.previousStatus),
    status,
    ...optional("reason", row.reason),
    ...optional("causedBy", row.causedBy),
    ...optional("value", row.value),
    ...optional("limit", row.limit),
    ...optional("remark", row.remark),
    ...optional("totalTargets", totalTargets),
    ...optional("totalTargetsPerStatus", counts && totalsOf(totalTargets ?? 0, counts)),
  };
}

/** Mounts the timeline of a rollout (contract console.md §2). */
export function mountTimelines(mount: Mount, deps: ReadDeps): void {
  /** Lists the steps in one round trip, and one more for a restricted caller. Throws entityNotFound and what a wrong `sort` does. */
  mount(rolloutTimelines.timeline, async ({ identity, tenantId, params: { rolloutId }, query }) => {
    await checkReach(deps, identity, rolloutId);
    const found = await readPage<StepRow>({ db: deps.db.pool, now: deps.now }, stepList(tenantId, rolloutId), query);
    if (!found.known) throw entityNotFound("Rollout", rolloutId);
    return { body: page(found.rows.map(stepJson), found) };
  });
}
