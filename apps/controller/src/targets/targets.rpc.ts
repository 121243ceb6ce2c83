import type { Handlers } from "@harrier/rpc";
import { createTargets, deleteTargets, readSecurityTokens, type TargetDeps, updateTarget } from "./targets.ts";

/** harrier.controller.v1.TargetsService: set-based commands on targets; the row's owner enforces tenant and scope. */
export function targetsHandlers(deps: TargetDeps): Handlers<"harrier.controller.v1.TargetsService"> {
  return {
    createTargets: (request, ctx) => createTargets(deps, request, ctx),
    updateTarget: (request, ctx) => updateTarget(deps, request, ctx),
    deleteTargets: (request, ctx) => deleteTargets(deps, request, ctx),
    readSecurityTokens: (request, ctx) => readSecurityTokens(deps, request, ctx),
  };
}
