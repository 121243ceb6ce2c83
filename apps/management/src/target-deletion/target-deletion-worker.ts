import type { Database } from "@harrier/db";
import type { Scope } from "@harrier/query";
import type { Client } from "@harrier/rpc";
import { chunkCall, workOnChunks } from "../operations/chunk-worker.ts";

interface Deps {
  db: Pick<Database, "pool">;
  targets: Pick<Client<"harrier.controller.v1.TargetsService">, "deleteTargetsById">;
  log: { warn(details: object, message: string): void };
}

/**
 * Deletes the targets of one confirmed query for some seconds, chunk by chunk; true when there was one. A chunk that is repeated deletes those of its
 * targets that still exist.
 */
export function deleteDueTargets(deps: Deps, signal?: AbortSignal, pieceFailed?: () => void): Promise<boolean> {
  const work = {
    kind: "delete-targets",
    failure: "targets of a query could not be deleted; it will be tried again",
    async carryOut(due, targetIds) {
      const { scope } = due.payload as { scope: Scope };
      await deps.targets.deleteTargetsById({ targetIds, initiator: due.createdBy }, chunkCall(due, "DELETE_TARGET", scope));
      return undefined;
    },
  } satisfies Parameters<typeof workOnChunks>[1];
  return workOnChunks(deps, work, signal, pieceFailed);
}
