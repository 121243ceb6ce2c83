import { insights } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { requireUnrestricted } from "../events/events.routes.ts";
import {
  type Figure,
  type InsightDeps,
  monthlyActions,
  monthlyRollouts,
  monthlyStorage,
  monthlyTargets,
  monthlyTraffic,
  readCurrentRollouts,
  readCurrentTargets,
  readTop,
} from "./insights.ts";
import { readVersions } from "./versions.ts";

const named = (name: "bytes" | "count", figures: readonly Figure[]) => ({
  content: figures.map(({ month, coverage, value }) => ({ month, coverage, ...(value === undefined ? {} : { [name]: value }) })),
});

/** Serves the insights of the tenant (spec 001 §4.8; contract management.md §10.6). */
export function mountInsights(mount: Mount, deps: InsightDeps): void {
  mount(insights.dataTraffic, async ({ tenantId, query }) => ({ body: named("bytes", await monthlyTraffic(deps, tenantId, query)) }));
  mount(insights.artifactStorage, async ({ tenantId, query }) => ({ body: named("bytes", await monthlyStorage(deps, tenantId, query)) }));
  // These are kept for all targets and rollouts together, so that nobody gets them who sees some only.
  mount(insights.monthlyTargets, async (ctx) => {
    requireUnrestricted(ctx, ["READ_TARGET"]);
    return { body: named("count", await monthlyTargets(deps, ctx.tenantId, ctx.query)) };
  });
  mount(insights.monthlyRollouts, async (ctx) => {
    requireUnrestricted(ctx);
    return { body: named("count", await monthlyRollouts(deps, ctx.tenantId, ctx.query)) };
  });
  mount(insights.monthlyActions, async (ctx) => {
    requireUnrestricted(ctx);
    return { body: { content: await monthlyActions(deps, ctx.tenantId, ctx.query) } };
  });

  mount(insights.currentTargets, async ({ identity }) => ({ body: await readCurrentTargets(deps, identity) }));
  mount(insights.currentRollouts, async ({ identity }) => ({ body: await readCurrentRollouts(deps, identity) }));
  mount(insights.topInstalled, async ({ identity, query: { top } }) => ({
    body: await readTop(deps, identity, { kind: "installedSet", top }),
  }));
  mount(insights.topAssigned, async ({ identity, query: { top } }) => ({
    body: await readTop(deps, identity, { kind: "assignedSet", top }),
  }));
  mount(insights.versions, async ({ identity, query }) => ({ body: await readVersions(deps, identity, query) }));
}
