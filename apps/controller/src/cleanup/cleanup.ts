import { type Database, runOne } from "@harrier/db";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { cleanActions } from "./cleanup.sql.ts";
import { cleanupRules } from "./rules.ts";

export interface CleanupDeps {
  db: Database;
  settings: Pick<TenantSettingsCache, "all">;
  fault: (name: string) => unknown;
}

/** Actions that a step looks at, and thereby removes, at most. */
const atOnce = 2_000;
/** Between two walks over the actions of a tenant: what has expired may be seen so much longer. */
const restMs = 5_000;

/**
 * Removes expired closed actions, a step at a time (contract rollouts.md §6.10). Called about once a second by every replica: one of them has the
 * lease for a step, the tenants that want it take turns, and whoever is killed leaves a cursor to go on from.
 */
export async function cleanUp(deps: CleanupDeps): Promise<number> {
  const rules = [...deps.settings.all()].flatMap(([tenantId, settings]) => cleanupRules(settings).map((rule) => ({ tenantId, ...rule })));
  if (rules.length === 0) return 0;
  const step = await runOne(deps.db.pool, cleanActions, [
    rules.map((rule) => rule.tenantId),
    rules.map((rule) => rule.status),
    rules.map((rule) => rule.expiryMs),
    atOnce,
    restMs,
  ]);
  if (step?.removed) await deps.fault("controller.clean-actions.after-commit");
  return step?.removed ?? 0;
}
