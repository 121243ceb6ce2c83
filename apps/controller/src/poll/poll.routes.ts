import { routeTable } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { deviceOf } from "../device.ts";
import { deviceAddress } from "./device-address.ts";
import { type PollDeps, poll } from "./poll.ts";

/** Given by the gateway to every credential that proves the tenant rather than one existing target. */
const registerPermission = "REGISTER_TARGET";

/** E1, the base resource (spec 000 §2.2, §4.1). */
export function pollRoutes(mount: Mount, deps: PollDeps): void {
  mount(routeTable.device.poll, async (ctx) => ({
    body: await poll(deps, {
      device: deviceOf(ctx),
      address: deviceAddress(ctx.req.headers["x-forwarded-for"]),
      mayRegister: ctx.identity.permissions.includes(registerPermission),
    }),
  }));
}
