import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { CallContext, ChangeTagRequest, ChangeTagResponse } from "@harrier/rpc";
import { changeTargetTag } from "./tags.sql.ts";
import { scopeOf } from "./targets.ts";

/**
 * Gives a tag to targets or removes it from them (spec 001 §4.5), in one statement; targets that have it already, or do not have it, are no error.
 * The answer names those that do not exist, and with `onlyAll` nothing is changed then.
 */
export async function changeTag(deps: { db: Database }, request: ChangeTagRequest, ctx: CallContext): Promise<ChangeTagResponse> {
  const { tagId, controllerIds, assign, onlyAll } = request;
  const scope = scopeOf(ctx, "UPDATE_TARGET");
  const row = await runOne(deps.db.pool, changeTargetTag, [ctx.principal.tenantId, tagId, controllerIds, scope, assign, onlyAll]);
  if (row?.outcome === "tagNotFound") throw entityNotFound("TargetTag", tagId);
  return { missing: row?.missing ?? [] };
}
