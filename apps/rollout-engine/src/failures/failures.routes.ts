import { type RolloutFailure, rolloutFailures } from "@harrier/contracts";
import { type Database, run } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { optional } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { checkReach, visibleReach } from "../rollouts/check-reach.ts";
import { type FailureRow, findFailures } from "./failures.sql.ts";

function failureJson(row: FailureRow & { count: number }): RolloutFailure {
  return {
    ...optional("code", row.code),
    ...optional("message", row.message),
    ...(row.others ? { others: true } : {}),
    count: row.count,
    firstAt: row.firstAt,
    lastAt: row.lastAt,
    sample: row.sample,
  };
}

/** Mounts the failures of a rollout (contract console.md §2). */
export function mountFailures(mount: Mount, deps: { db: Database }): void {
  /** Lists the kinds of failures in one round trip, and one more for a restricted caller. Throws entityNotFound. */
  mount(rolloutFailures.failures, async ({ identity, tenantId, params: { rolloutId }, query: { groupId, top } }) => {
    await checkReach(deps, identity, rolloutId);
    const rows = await run(deps.db.pool, findFailures, [tenantId, rolloutId, groupId ?? null, visibleReach(identity), top]);
    const [head] = rows;
    if (head === undefined) throw entityNotFound("Rollout", rolloutId);
    const found = rows.filter((row): row is FailureRow & { count: number } => row.count !== null);
    return { body: { content: found.map(failureJson), total: head.total, size: found.length } };
  });
}
