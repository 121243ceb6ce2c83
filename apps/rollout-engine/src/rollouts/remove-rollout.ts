import { type Database, runOne } from "@harrier/db";
import { applyChanges } from "../changes/apply-changes.ts";
import { groupsToFinish } from "../domain/changes.ts";
import type { RolloutWork } from "../work/load-work.ts";
import { removeRollout as remove } from "./rollouts.sql.ts";

interface Deps {
  db: Database;
}

/**
 * Ends a deletion when no action is open any more. The rollout is removed if no target has an action of it; otherwise it stays readable as deleted,
 * with all groups finished (contract rollouts.md §4.1).
 */
export async function removeRollout(deps: Deps, work: Pick<RolloutWork, "tenantId" | "tenant" | "rolloutId" | "groups">): Promise<void> {
  const { tenantId, tenant, rolloutId } = work;
  if (await runOne(deps.db.pool, remove, [tenantId, rolloutId, tenant])) return;
  const rollout = { from: "deleting", to: "deleted" } as const;
  const groups = groupsToFinish(work.groups);
  await applyChanges(deps.db.pool, { tenantId, tenant, rolloutId, expected: ["deleting"], groups, rollout });
}
