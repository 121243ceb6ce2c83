import { targetFilters } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Mount } from "@harrier/service";
import { setJson } from "../distribution-sets/distribution-set.json.ts";
import { getSet } from "../distribution-sets/distribution-sets.ts";
import { findAutoAssignedSet } from "./auto-assigned-set.sql.ts";

/** Serves the one part of target filters that is a distribution set (spec 001 §4.5); rollout-engine serves the rest. */
export function mountAutoAssignedSet(mount: Mount, deps: { db: Database }): void {
  mount(targetFilters.getAutoAssign, async (ctx) => {
    const { filterId } = ctx.params;
    const row = await runOne(deps.db.pool, findAutoAssignedSet, [ctx.tenantId, filterId]);
    if (row === undefined) throw entityNotFound("TargetFilterQuery", filterId);
    if (row.setId === null) return { status: 204 };
    return { body: setJson(ctx, await getSet(deps, ctx.tenantId, row.setId), true) };
  });
}
