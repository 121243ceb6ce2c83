import { distributionSets, targets } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Client } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import { assignSets, assignTargets } from "./assign-set.ts";
import { assignmentJson } from "./assignment.json.ts";
import { targetPage } from "./target-page.ts";
import { targetsOfSet } from "./targets.sql.ts";
import type { TargetDeps } from "./targets.ts";

interface Deps {
  db: Database;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "assignSet" | "assignSets" | "assignOffline">;
  targets: TargetDeps["targets"];
  now: () => number;
}

/** Serves assignments of sets to targets, and who has which set (spec 001 §4.1, §4.2). */
export function mountAssignment(mount: Mount, deps: Deps): void {
  mount(distributionSets.assignTargets, async (ctx) => {
    const request = { setId: ctx.params.distributionSetId, items: ctx.body, offline: ctx.query.offline };
    return { body: assignmentJson(ctx, await assignTargets(deps, ctx, request)) };
  });

  mount(targets.assign, async (ctx) => {
    const request = { controllerId: ctx.params.targetId, items: ctx.body, offline: ctx.query.offline };
    return { body: assignmentJson(ctx, await assignSets(deps, ctx, request)) };
  });

  const lists = [
    [distributionSets.listAssignedTargets, "assigned_set_id"],
    [distributionSets.listInstalledTargets, "installed_set_id"],
  ] as const;
  for (const [route, column] of lists) {
    mount(route, async (ctx) => {
      const id = ctx.params.distributionSetId;
      const source = targetsOfSet(column, ctx.tenantId, scopeOf(ctx.identity, "READ_TARGET"), id);
      return targetPage(deps, ctx, { source, query: ctx.query, missing: () => entityNotFound("DistributionSet", id) });
    });
  }
}
