import { targetSuggestions } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { suggestValues } from "./target-suggestions.ts";

/** Serves suggestions of values for target queries (contract console.md §1, M13). */
export function mountTargetSuggestions(mount: Mount, deps: Parameters<typeof suggestValues>[0]): void {
  mount(targetSuggestions.suggest, async (ctx) => ({ body: await suggestValues(deps, ctx.identity, ctx.query) }));
}
