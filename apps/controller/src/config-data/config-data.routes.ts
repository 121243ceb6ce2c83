import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { type ConfigDataDeps, putConfigData } from "./config-data.ts";

/** Serves E6, the device's attributes (spec 000 §2.6, §4.1). */
export function configDataRoutes(mount: Mount, deps: ConfigDataDeps): void {
  mount(routeTable.device.configData, (ctx) => putConfigData(deps, deviceOf(ctx), ctx.body));
}
