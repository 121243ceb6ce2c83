import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { firstContactOf } from "./first-contact.ts";
import { type PollDeps, poll } from "./poll.ts";

/** Serves E1, the base resource (spec 000 §2.2, §4.1). */
export function pollRoutes(mount: Mount, deps: PollDeps): void {
  mount(routeTable.device.poll, async (ctx) => ({ body: await poll(deps, firstContactOf(ctx)) }));
}
