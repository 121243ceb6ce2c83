import { type Database, eraseTenantRows, runCount } from "@harrier/db";
import type { CallContext } from "@harrier/rpc";
import { forgetCounts } from "./erase-tenant.sql.ts";

/**
 * Erases one chunk of a tenant: targets and actions with their history included. The number of targets is erased last, because each deleted target is
 * subtracted from it.
 */
export async function eraseTenant(
  { db }: { db: Pick<Database, "pool"> },
  request: { countOnly: boolean },
  { principal: { tenantId } }: Pick<CallContext, "principal">,
): Promise<{ rows: number; done: boolean }> {
  const slice = await eraseTenantRows({ pool: db.pool, schema: "controller", tenantId, except: ["target_counts"] }, request);
  if (slice.done) await runCount(db.pool, forgetCounts, [tenantId]);
  return slice;
}
