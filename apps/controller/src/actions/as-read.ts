import { type Database, inTransaction, type Queryable, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { CallContext } from "@harrier/rpc";
import { storableId } from "../device.ts";
import { scopeOf } from "../targets/targets.ts";
import { lockAction } from "./as-read.sql.ts";

interface Demand {
  readonly controllerId: string;
  readonly actionId: number;
  readonly ifRevisions: readonly number[];
}

/**
 * Changes one action. Where the caller demands a revision (ADR 40), the action is locked first and keeps its revision until the change is made; for one
 * that is not there, the change says why.
 * @throws entityChanged
 */
export async function actionAsRead<T>(
  { db }: { db: Database },
  { request, ctx }: { request: Demand; ctx: CallContext },
  change: (db: Queryable) => Promise<T>,
): Promise<T> {
  const { controllerId, actionId, ifRevisions } = request;
  if (ifRevisions.length === 0) return change(db.pool);
  return inTransaction(db.pool, async (tx) => {
    const row = await runOne(tx, lockAction, [ctx.principal.tenantId, controllerId, storableId(actionId), scopeOf(ctx, "UPDATE_TARGET")]);
    if (row !== undefined && !ifRevisions.includes(row.revision)) throw new HarrierError("entityChanged");
    return change(tx);
  });
}
