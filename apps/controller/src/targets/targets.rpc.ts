import type { Handlers } from "@harrier/rpc";
import { activateAutoConfirm, deactivateAutoConfirm } from "../confirmation/commands.ts";
import { eraseTenant } from "../tenants/erase-tenant.ts";
import { changeTargetsById } from "./changes.ts";
import { changeGroup } from "./groups.ts";
import { importTargets } from "./import.ts";
import { addMetadata, changeMetadata, removeMetadata } from "./metadata.ts";
import { changeTag } from "./tags.ts";
import { createTargets, deleteTargets, deleteTargetsById, readSecurityTokens, type TargetDeps, updateTarget } from "./targets.ts";

/** harrier.controller.v1.TargetsService takes set-based commands on targets; the row's owner enforces tenant and scope. */
export function targetsHandlers(deps: TargetDeps): Handlers<"harrier.controller.v1.TargetsService"> {
  return {
    createTargets: (request, ctx) => createTargets(deps, request, ctx),
    updateTarget: (request, ctx) => updateTarget(deps, request, ctx),
    deleteTargets: (request, ctx) => deleteTargets(deps, request, ctx),
    changeTargetsById: (request, ctx) => changeTargetsById(deps, request, ctx),
    deleteTargetsById: (request, ctx) => deleteTargetsById(deps, request, ctx),
    readSecurityTokens: (request, ctx) => readSecurityTokens(deps, request, ctx),
    activateAutoConfirm: (request, ctx) => activateAutoConfirm(deps, request, ctx),
    deactivateAutoConfirm: (request, ctx) => deactivateAutoConfirm(deps, request, ctx),
    changeTag: (request, ctx) => changeTag(deps, request, ctx),
    changeGroup: (request, ctx) => changeGroup(deps, request, ctx),
    eraseTenantTargets: (request, ctx) => eraseTenant(deps, request, ctx),
    importTargets: (request, ctx) => importTargets(deps, request, ctx),
    addMetadata: (request, ctx) => addMetadata(deps, request, ctx),
    changeMetadata: (request, ctx) => changeMetadata(deps, request, ctx),
    removeMetadata: (request, ctx) => removeMetadata(deps, request, ctx),
  };
}
