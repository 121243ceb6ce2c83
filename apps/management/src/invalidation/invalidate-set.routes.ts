import { distributionSets } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { type InvalidationDeps, invalidateSet } from "./invalidate-set.ts";

/** The end of a distribution set's use (spec 001 §4.1). */
export function mountInvalidation(mount: Mount, deps: InvalidationDeps): void {
  mount(distributionSets.invalidate, (ctx) => invalidateSet(deps, ctx.identity, { id: ctx.params.distributionSetId, asked: ctx.body }));
}
