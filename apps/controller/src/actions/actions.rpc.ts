import type { Database, IdBlocks } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import { deleteActions } from "../cleanup/delete-actions.ts";
import { confirmAction } from "../confirmation/commands.ts";
import type { LimitsOf } from "../domain/quotas.ts";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { proveAction, retryAction } from "../watches/commands.ts";
import { assignOffline, assignSet, assignSets } from "./assign.ts";
import { createAutoAssign } from "./auto-assign.ts";
import { cancelAction, forceAction } from "./change.ts";
import { createChunks } from "./chunks.ts";
import { createEnds } from "./ends.ts";
import { recordDownloads } from "./record-downloads.ts";

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "take">;
  limits: LimitsOf;
  settings: Pick<TenantSettingsCache, "get">;
  fault: (name: string) => unknown;
  now: () => number;
}

/** harrier.controller.v1.ActionsService is the only writer of actions. */
export function actionsHandlers(deps: Deps): Handlers<"harrier.controller.v1.ActionsService"> {
  return {
    assignSet: (request, ctx) => assignSet(deps, request, ctx),
    assignSets: (request, ctx) => assignSets(deps, request, ctx),
    assignOffline: (request, ctx) => assignOffline(deps, request, ctx),
    cancelAction: (request, ctx) => cancelAction(deps, request, ctx),
    forceAction: (request, ctx) => forceAction(deps, request, ctx),
    confirmAction: (request, ctx) => confirmAction(deps, request, ctx),
    proveAction: (request, ctx) => proveAction(deps, request, ctx),
    retryAction: (request, ctx) => retryAction(deps, request, ctx),
    noteDownloads: (request, ctx) => recordDownloads(deps, request, ctx),
    ...createChunks(deps),
    ...createEnds(deps),
    ...createAutoAssign(deps),
    deleteActions: (request, ctx) => deleteActions(deps, request, ctx),
  };
}
