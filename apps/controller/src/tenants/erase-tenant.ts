import { countTenantRows, type Database, deleteTenantRows, runCount, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { CallContext } from "@harrier/rpc";
import { forgetCounts, isBeingDeleted } from "./erase-tenant.sql.ts";

const schema = "controller";
/** Well within the caller's deadline, and short enough that progress is seen. */
const sliceMs = 2_000;

/**
 * One slice of the end of a tenant (contract extensions.md): everything that stands here under its id, targets, actions, history included. Asked again
 * until nothing is left. A tenant that is not being deleted keeps everything, whoever asks.
 */
export async function eraseTenant(
  { db }: { db: Pick<Database, "pool"> },
  { countOnly }: { countOnly: boolean },
  { principal: { tenantId } }: Pick<CallContext, "principal">,
): Promise<{ rows: number; done: boolean }> {
  const tenant = await runOne(db.pool, isBeingDeleted, [tenantId]);
  if (tenant?.deleting !== true) throw new HarrierError("constraintViolation", "The tenant is not being deleted.");
  // the number of targets last: each that goes is counted out
  const which = { pool: db.pool, schema, tenantId, except: ["target_counts"] };
  if (countOnly) return { rows: await countTenantRows(which), done: false };
  const { deleted, done } = await deleteTenantRows({ ...which, untilMs: Date.now() + sliceMs });
  if (done) await runCount(db.pool, forgetCounts, [tenantId]);
  return { rows: deleted, done };
}
