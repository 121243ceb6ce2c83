import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { CallContext, ChangeTargetsByIdRequest, ChangeTargetsByIdResponse } from "@harrier/rpc";
import { changeActionsOfTargets, changeTargets, type TargetActionChange, type TargetChange } from "./changes.sql.ts";
import { scopeOf } from "./targets.ts";

const changes: ReadonlySet<string> = new Set<TargetChange>(["addTag", "removeTag", "setType", "requestAttributes"]);
const isChange = (name: string): name is TargetChange => changes.has(name);
const isActionChange = (name: string): name is TargetActionChange => Object.hasOwn(changeActionsOfTargets, name);

/** One call locks so many targets at most. */
const maxTargets = 1_000;

/**
 * Changes many targets at once (contract console.md §4, M16), in one statement; those that are so already are no error. The answer names the targets
 * that were reached: the others are gone, or of a type that the caller may not change.
 */
export async function changeTargetsById(
  deps: { db: Database },
  request: ChangeTargetsByIdRequest,
  ctx: CallContext,
): Promise<ChangeTargetsByIdResponse> {
  const { targetIds, change, initiator } = request;
  if (!(isChange(change) || isActionChange(change)) || targetIds.length > maxTargets)
    throw new HarrierError("constraintViolation", `${targetIds.length} targets cannot be changed by ${change}.`);
  const value = request.value === 0 ? null : request.value;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const { tenantId, tenant } = ctx.principal;
  if (isActionChange(change)) {
    const values = [tenantId, tenant, targetIds, scope, initiator, ctx.traceparent ?? null] as const;
    const row = await runOne(deps.db.pool, changeActionsOfTargets[change], [...values]);
    return { reached: row?.reached ?? [], changed: row?.changed ?? 0 };
  }
  const row = await runOne(deps.db.pool, changeTargets, [tenantId, targetIds, change, value, scope, initiator]);
  if (row?.outcome === "tagNotFound") throw entityNotFound("TargetTag", request.value);
  if (row?.outcome === "typeNotFound") throw entityNotFound("TargetType", request.value);
  return { reached: row?.reached ?? [], changed: row?.changed ?? 0 };
}
