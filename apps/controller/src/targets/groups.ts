import { type Database, runOne } from "@harrier/db";
import type { CallContext, ChangeGroupRequest, ChangeGroupResponse } from "@harrier/rpc";
import { changeTargetGroup } from "./groups.sql.ts";
import { scopeOf } from "./targets.ts";

/**
 * Puts targets into a group or, without one, takes them out of theirs, in one statement. Targets that do not exist, that the caller may not change,
 * or that are in the right group already are skipped; the answer counts the others.
 */
export async function changeGroup(
  deps: { db: Database },
  { group, controllerIds, targetIds }: ChangeGroupRequest,
  ctx: CallContext,
): Promise<ChangeGroupResponse> {
  const { tenantId, subject } = ctx.principal;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const row = await runOne(deps.db.pool, changeTargetGroup, [tenantId, controllerIds, targetIds, group || null, scope, subject]);
  return { changed: row?.changed ?? 0 };
}
