import { targetSummary } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { type SummaryDeps, summarizeTargets } from "./target-summary.ts";

/** Serves the counts of targets by what they have (contract console.md §1, M12); it stands before the routes of one target, whose id would match. */
export function mountTargetSummary(mount: Mount, deps: SummaryDeps): void {
  mount(targetSummary.summary, async (ctx) => ({ body: { facets: await summarizeTargets(deps, ctx.identity, ctx.query) } }));
}
