import type { RolloutUpdate } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type IfMatch, withConflicts } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { getRollout } from "./read-rollouts.ts";
import { updateRollout } from "./rollouts.sql.ts";

interface Deps {
  db: Database;
}

/** Changes name and description (spec 001 §4.6); absent members stay as they are. */
export async function changeRollout(
  deps: Deps,
  { tenantId, tenant, subject, traceparent }: Pick<Identity, "tenantId" | "tenant" | "subject" | "traceparent">,
  id: number,
  { ifMatch, ...change }: RolloutUpdate & { ifMatch?: IfMatch },
): Promise<void> {
  const { name = null, description = null } = change;
  const row = await withConflicts(() =>
    runOne(deps.db.pool, updateRollout, [tenantId, id, name, description, subject, ifMatch ?? null, tenant, traceparent ?? null]),
  );
  if (row) return;
  const { status } = await getRollout(deps, tenantId, id);
  if (status !== "deleting" && status !== "deleted") throw new HarrierError("entityChanged");
  throw new HarrierError("entityReadOnly", "A rollout that is being deleted cannot be changed.");
}
