import { setStatistics } from "@harrier/contracts";
import type { Database } from "@harrier/db";
import type { Identity } from "@harrier/rpc";
import type { Mount } from "@harrier/service";
import { partJson, statisticsJson } from "./statistics.json.ts";
import { readStatistics } from "./statistics.ts";

/** Serves the statistics of distribution sets (spec 001 §4.1). */
export function mountSetStatistics(mount: Mount, deps: { db: Database }): void {
  const nothing = { actions: false, rollouts: false, autoAssignments: false };
  const read = (identity: Identity, id: number, what: Partial<typeof nothing>) =>
    readStatistics(deps, identity, { id, ...nothing, ...what });

  mount(setStatistics.statistics, async (ctx) => ({
    body: statisticsJson(await read(ctx.identity, ctx.params.distributionSetId, { actions: true, rollouts: true, autoAssignments: true })),
  }));

  mount(setStatistics.rolloutStatistics, async (ctx) => ({
    body: partJson(await read(ctx.identity, ctx.params.distributionSetId, { rollouts: true }), "rollouts"),
  }));

  mount(setStatistics.actionStatistics, async (ctx) => ({
    body: partJson(await read(ctx.identity, ctx.params.distributionSetId, { actions: true }), "actions"),
  }));

  mount(setStatistics.autoAssignmentStatistics, async (ctx) => ({
    body: partJson(await read(ctx.identity, ctx.params.distributionSetId, { autoAssignments: true }), "autoAssignments"),
  }));
}
