import { search } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { searchEntities } from "./search.ts";

/** Serves the search over the entities of the tenant (contract console.md §3). */
export function mountSearch(mount: Mount, deps: Parameters<typeof searchEntities>[0]): void {
  mount(search.find, async (ctx) => ({ body: await searchEntities(deps, ctx.identity, ctx.query) }));
}
