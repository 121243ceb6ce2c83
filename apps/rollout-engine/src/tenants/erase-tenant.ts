import { type Database, eraseTenantRows } from "@harrier/db";
import type { CallContext } from "@harrier/rpc";

/** Deletes one chunk of a tenant's rows: rollouts, groups and members included. */
export function eraseTenant(
  { db }: { db: Pick<Database, "pool"> },
  request: { countOnly: boolean },
  { principal: { tenantId } }: Pick<CallContext, "principal">,
): Promise<{ rows: number; done: boolean }> {
  return eraseTenantRows({ pool: db.pool, schema: "rollout_engine", tenantId }, request);
}
