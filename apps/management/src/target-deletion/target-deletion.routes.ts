import { targetDeletion } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { operationJson } from "../operations/operation.json.ts";
import { deleteTargetsByQuery, type TargetDeletionDeps } from "./delete-targets.ts";

/** Serves the deletion of targets by a query (contract extensions.md). */
export function mountTargetDeletion(mount: Mount, deps: TargetDeletionDeps): void {
  mount(targetDeletion.deleteByQuery, async (ctx) => {
    const operation = await deleteTargetsByQuery(deps, ctx, ctx.query);
    return operation === undefined ? undefined : { status: 202, body: operationJson(ctx, operation) };
  });
}
