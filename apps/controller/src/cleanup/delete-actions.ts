import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { CallContext, DeleteActionsRequest, DeleteActionsResponse } from "@harrier/rpc";
import { storableId } from "../device.ts";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import { scopeOf } from "../targets/targets.ts";
import { deleteOlderActions, deleteActions as removeNamed } from "./cleanup.sql.ts";
import { statusCodes } from "./rules.ts";

interface Deps {
  db: Database;
  settings: Pick<TenantSettingsCache, "get">;
}

/** At most this many of a target's oldest actions are deleted at once; a rollout may give a target more actions than its quota. */
const maxOfTarget = 5_000;

/**
 * Removes closed actions with their history (contract rollouts.md §6.7): listed ones all or none, or a target's older ones as far as they may be
 * removed. A setting of the tenant says which statuses may be removed; open actions never are, nor those that their safety policy still watches.
 */
export async function deleteActions(deps: Deps, request: DeleteActionsRequest, ctx: CallContext): Promise<DeleteActionsResponse> {
  const { controllerId, keepLast } = request;
  const { tenantId } = ctx.principal;
  const statuses = statusCodes(deps.settings.get(tenantId)["action.delete.allowed.statuses"]);
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const ids = request.actionIds.map(storableId);
  const row =
    keepLast === undefined
      ? await runOne(deps.db.pool, removeNamed, [tenantId, controllerId === "" ? null : controllerId, ids, statuses, scope])
      : await runOne(deps.db.pool, deleteOlderActions, [tenantId, controllerId, Math.max(0, keepLast), statuses, scope, maxOfTarget]);
  const { outcome, id, removed } = row?.answer ?? {};
  switch (outcome) {
    case "ok":
      return { removed: removed ?? 0 };
    case "targetNotFound":
      throw entityNotFound("Target", controllerId);
    case "actionNotFound":
      throw entityNotFound("Action", id ?? 0);
    case "notDeletable":
      throw new HarrierError(
        "actionNotDeletable",
        `Action '${id}' is open, still watched by its safety policy, or in a status that may not be deleted.`,
      );
    default:
      throw new HarrierError("internal");
  }
}
