import { targetChanges } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { operationJson } from "../operations/operation.json.ts";
import { beginTargetChange, type TargetChangeDeps } from "./change-targets.ts";

/** Serves changes of many targets (contract console.md §4, M16). */
export function mountTargetChanges(mount: Mount, deps: TargetChangeDeps): void {
  mount(targetChanges.change, async (ctx) => ({ body: operationJson(ctx, await beginTargetChange(deps, ctx, ctx.body)) }));
}
