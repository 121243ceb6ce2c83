import { type Database, runOne } from "@harrier/db";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { cleanActions } from "./cleanup.sql.ts";
import { cleanupRules } from "./rules.ts";

export interface CleanupDeps {
  db: Database;
  settings: Pick<TenantSettingsCache, "all">;
  fault: (name: string) => unknown;
}

/** A step reads at most this many actions, and thereby removes no more. */
const chunkSize = 2_000;
/** The pause between two scans of a tenant's actions; an expired action may be seen this much longer. */
const cooldownMs = 5_000;

/**
 * Removes expired closed actions, a step at a time (contract rollouts.md §6.10). Every replica calls this about once a second: one of them holds the
 * lease for a step, tenants are processed round-robin, and after a kill the next step continues at the cursor.
 */
export async function cleanUp(deps: CleanupDeps): Promise<number> {
  const rules = [...deps.settings.all()].flatMap(([tenantId, settings]) => cleanupRules(settings).map((rule) => ({ tenantId, ...rule })));
  if (rules.length === 0) return 0;
  const step = await runOne(deps.db.pool, cleanActions, [
    rules.map((rule) => rule.tenantId),
    rules.map((rule) => rule.status),
    rules.map((rule) => rule.expiryMs),
    chunkSize,
    cooldownMs,
  ]);
  if (step?.removed) await deps.fault("controller.clean-actions.after-commit");
  return step?.removed ?? 0;
}
