import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { targetFields } from "@harrier/fiql";
import type { Client } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { narrow } from "../lists/list.ts";
import type { OperationRow } from "../operations/background.sql.ts";
import { overdueMacro } from "../targets/poll-times.ts";
import { commonScope, scopeOf } from "../targets/scope.ts";
import { targetList } from "../targets/targets.sql.ts";
import type { Asker } from "../targets/targets.ts";
import { beginTargetDeletion } from "./target-deletion.sql.ts";

export interface TargetDeletionDeps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "deleteTargetsById">;
  /** An operation was begun. */
  nudgeTargetDeletions: () => void;
  fault: (point: FaultPoint) => void | Promise<void>;
  now: () => number;
}

/**
 * Deletes the targets that a query means, with everything they own, if they are as many as the caller has said (contract extensions.md).
 * Those that were counted go, neither more nor others. Up to a thousand are gone with the answer; more go by the operation that comes back.
 * Who is limited to target types deletes those that he may both see and delete.
 */
export async function deleteTargetsByQuery(
  deps: TargetDeletionDeps,
  asker: Asker,
  { q, confirm }: { q: string; confirm: number },
): Promise<OperationRow | undefined> {
  const { identity } = asker;
  const { tenantId, subject } = identity;
  const scope = commonScope(scopeOf(identity, "DELETE_TARGET"), scopeOf(identity, "READ_TARGET"));
  const macros = () => overdueMacro({ db: deps.db.pool, now: deps.now }, tenantId);
  const source = await narrow(
    { db: deps.db.pool, now: deps.now, macros },
    { source: targetList(tenantId, scope), fields: targetFields },
    q,
  );
  const begun = await runOne(deps.db.pool, beginTargetDeletion(source, { confirm, q, scope, actor: subject }));
  if (begun === undefined || begun.matched !== confirm) throw countDiffers(confirm, begun?.matched ?? 0);
  if (begun.id !== null) {
    await deps.fault("management.delete-targets.after-commit");
    deps.nudgeTargetDeletions();
    return begun;
  }
  if (begun.targetIds !== null) await deps.targets.deleteTargetsById({ targetIds: begun.targetIds, initiator: subject }, asker.out());
  return undefined;
}

function countDiffers(confirmed: number, count: number): HarrierError {
  return new HarrierError("concurrentModification", `The query means ${count} targets, not ${confirmed}: none was deleted.`, {
    info: { count },
  });
}
