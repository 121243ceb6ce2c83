import { type Database, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Client } from "@harrier/rpc";
import { type ChunkFailures, chunkCall, workOnChunks } from "../operations/chunk-worker.ts";
import type { ChunkedOperation } from "../operations/chunks.sql.ts";
import { type AssignChunkDeps, assignToChunk } from "./assign-to-chunk.ts";
import { type ChangePayload, notReached } from "./change-targets.ts";
import { nameTargets } from "./target-changes.sql.ts";

interface Deps {
  db: Database;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "changeTargetsById">;
  actions: AssignChunkDeps["actions"];
  log: { warn(details: object, message: string): void };
}

/**
 * Changes the targets of one operation for some seconds, chunk by chunk; true when there was one. A chunk that is repeated changes nothing more. What
 * cannot be reached any more is counted, and named where it still has a name.
 */
export function changeDueTargets(deps: Deps, signal?: AbortSignal, pieceFailed?: () => void): Promise<boolean> {
  const work = {
    kind: "change-targets",
    failure: "targets could not be changed; it will be tried again",
    carryOut: (due, targetIds, extend) => changeChunk({ ...deps, extend }, due, targetIds),
  } satisfies Parameters<typeof workOnChunks>[1];
  return workOnChunks(deps, work, signal, pieceFailed);
}

async function changeChunk(deps: Deps & AssignChunkDeps, due: ChunkedOperation, targetIds: number[]): Promise<ChunkFailures> {
  const { scope, change, value } = due.payload as ChangePayload;
  if (change === "assignSet") return assignToChunk(deps, due, targetIds);
  const reached = new Set<number>();
  try {
    const request = {
      targetIds,
      change: change === "removeType" ? "setType" : change,
      value: value ?? 0, // no type
      initiator: due.createdBy,
    };
    const answer = await deps.targets.changeTargetsById(request, chunkCall(due, "UPDATE_TARGET", scope));
    for (const id of answer.reached) reached.add(id);
  } catch (error) {
    // the tag or type is gone, and will not come back: to try again would never end
    if (!(error instanceof HarrierError) || error.code !== "entityNotFound") throw error;
  }
  const missed = targetIds.filter((id) => !reached.has(id));
  if (missed.length === 0) return { failed: 0, failures: [] };
  const names = await run(deps.db.pool, nameTargets, [due.tenantId, missed]);
  return { failed: missed.length, failures: names.map(({ controllerId }) => ({ controllerId, reason: notReached })) };
}
