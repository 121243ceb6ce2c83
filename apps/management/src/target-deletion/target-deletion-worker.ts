import { randomUUID } from "node:crypto";
import { type Database, run, runOne } from "@harrier/db";
import { failureMessage } from "@harrier/errors";
import { type Client, type OutCall, servicePrincipal } from "@harrier/rpc";
import { finishBackground, postponeBackground, postponeOperation } from "../operations/background.sql.ts";
import { endChunk, nextChunk, type TargetDeletion, takeDueTargetDeletion } from "./target-deletion.sql.ts";

interface Deps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "deleteTargetsById">;
  log: { warn(details: object, message: string): void };
}

/** The lease is longer than the longest call, so that no replica repeats work that is still under way. */
const leaseSeconds = 20;
const callMs = 10_000;
/** A replica works on one deletion for so long before it checks whether another is due. */
const roundMs = 5_000;

/**
 * Deletes the targets of one confirmed query for some seconds, chunk by chunk; true when there was one. Any number of replicas may run it,
 * and each may be killed at any point: the next one repeats the chunk that was under way, and deletes those of its targets that still
 * exist. A failure is retried later.
 */
export async function deleteDueTargets(deps: Deps, signal?: AbortSignal, pieceFailed?: () => void): Promise<boolean> {
  const { pool } = deps.db;
  const due = await runOne(pool, takeDueTargetDeletion, [leaseSeconds]);
  if (due === undefined) return false;
  const { tenantId, id } = due;
  try {
    if (await deleteFor(deps, due, signal)) await run(pool, finishBackground, [tenantId, id]);
    else await run(pool, postponeOperation, [tenantId, id, 0]);
  } catch (error) {
    pieceFailed?.();
    deps.log.warn({ err: error, operation: id }, "targets of a query could not be deleted; it will be tried again");
    await run(pool, postponeBackground, [tenantId, id, failureMessage(error, "management")]);
  }
  return true;
}

/** Deletes one chunk; true when nothing is left. */
async function deleteFor({ db, targets }: Deps, due: TargetDeletion, signal: AbortSignal | undefined): Promise<boolean> {
  const untilMs = Date.now() + roundMs;
  while (signal?.aborted !== true && Date.now() < untilMs) {
    const next = await runOne(db.pool, nextChunk, [due.tenantId, due.id]);
    if (next === undefined) return true;
    await targets.deleteTargetsById({ targetIds: next.targetIds, initiator: due.createdBy }, callFor(due));
    await run(db.pool, endChunk, [due.tenantId, due.id, next.chunk, leaseSeconds]);
  }
  return false;
}

/** Controller restricts the deletion to the target types of its initiator: a target whose type has changed to another since then stays. */
function callFor({ tenantId, tenant, scope }: TargetDeletion): OutCall {
  const principal = servicePrincipal("management", { id: tenantId, name: tenant });
  const limited = scope === null ? principal : { ...principal, targetTypeScopes: { DELETE_TARGET: scope } };
  return { principal: limited, rid: randomUUID(), deadline: Date.now() + callMs };
}
