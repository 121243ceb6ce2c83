import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { targetFields } from "@harrier/fiql";
import { narrow, scopeOf, targetLists } from "@harrier/query";
import type { Client } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import type { OperationRow } from "../operations/background.sql.ts";
import { beginChunks } from "../operations/chunks.sql.ts";
import { targetList } from "../targets/targets.sql.ts";
import type { Actor } from "../targets/targets.ts";

/** So many targets are deleted before the answer; more are deleted in the background. */
const maxDirectly = 1_000;

export interface TargetDeletionDeps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "deleteTargetsById">;
  /** Starts the operation that was stored. */
  wakeTargetDeletions: () => void;
  fault: (point: FaultPoint) => void | Promise<void>;
  now: () => number;
}

/**
 * Deletes the targets that a query matches, with everything they own, if their number is the one that the caller has given
 * (contract extensions.md). Exactly the counted targets are deleted. Up to a thousand are deleted before the answer; more are deleted by the
 * operation that is returned. A user who is limited to target types deletes those that are both visible and deletable for that user.
 */
export async function deleteTargetsByQuery(
  deps: TargetDeletionDeps,
  actor: Actor,
  { q, confirm }: { q: string; confirm: number },
): Promise<OperationRow | undefined> {
  const { identity } = actor;
  const { tenantId, subject } = identity;
  const scope = scopeOf(identity, "DELETE_TARGET", "READ_TARGET");
  const source = await narrow(targetLists(deps, tenantId), { source: targetList(tenantId, scope), fields: targetFields }, q);
  const begin = { kind: "delete-targets", subject: q, payload: { scope }, actor: subject, confirm, directly: maxDirectly } as const;
  const begun = await runOne(deps.db.pool, beginChunks(source, begin));
  if (begun === undefined || begun.matched !== confirm) throw countDiffers(confirm, begun?.matched ?? 0);
  if (begun.id !== null) {
    await deps.fault("management.delete-targets.after-commit");
    deps.wakeTargetDeletions();
    return begun;
  }
  if (begun.targetIds !== null) await deps.targets.deleteTargetsById({ targetIds: begun.targetIds, initiator: subject }, actor.out());
  return undefined;
}

function countDiffers(confirmed: number, count: number): HarrierError {
  return new HarrierError("concurrentModification", `The query means ${count} targets, not ${confirmed}: none was deleted.`, {
    info: { count },
  });
}
