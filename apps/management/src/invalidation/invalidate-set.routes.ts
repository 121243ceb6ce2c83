import { distributionSets } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { type InvalidationDeps, invalidateSet } from "./invalidate-set.ts";

/** Serves the invalidation of a distribution set (spec 001 §4.1). */
export function mountInvalidation(mount: Mount, deps: InvalidationDeps): void {
  mount(distributionSets.invalidate, (ctx) => invalidateSet(deps, ctx.identity, { id: ctx.params.distributionSetId, requested: ctx.body }));
}
