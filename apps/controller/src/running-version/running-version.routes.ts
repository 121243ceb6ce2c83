import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { type RunningVersionDeps, reportRunningVersion } from "./running-version.ts";

/** Serves E8, the version that a device runs (spec 000 §4.2): 201 where it is new, 200 where it was known. */
export function runningVersionRoutes(mount: Mount, deps: RunningVersionDeps): void {
  mount(routeTable.device.runningVersion, async (ctx) => ({
    status: (await reportRunningVersion(deps, deviceOf(ctx), ctx.body)) ? 201 : 200,
  }));
}
