import { type Database, runOne } from "@harrier/db";
import { applyChanges } from "../changes/apply-changes.ts";
import { removeRollout as remove } from "./rollouts.sql.ts";

interface Deps {
  db: Database;
}

/** Ends a deletion: the rollout goes, or stays readable as deleted where targets have actions of it (contract rollouts.md §4.1). */
export async function removeRollout(deps: Deps, rollout: { tenantId: number; tenant: string; rolloutId: number }): Promise<void> {
  const { tenantId, tenant, rolloutId } = rollout;
  if (await runOne(deps.db.pool, remove, [tenantId, rolloutId, tenant])) return;
  const change = { from: "deleting", to: "deleted" } as const;
  await applyChanges(deps.db.pool, { tenantId, tenant, rolloutId, expected: ["deleting"], groups: [], rollout: change });
}
