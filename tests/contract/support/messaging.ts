import { routeTable as r } from "@harrier/contracts";
import { call, type Dialect } from "./call.ts";
import { makeTenant } from "./tenants.ts";
import type { ValidRequest } from "./walk.ts";

/** Makes requests of tenants of their own: a tenant can be enabled once, and not by two files at the same time. */
export function messagingRequests(dialect: Dialect): Record<string, ValidRequest> {
  const fresh = async () => ({ auth: (await makeTenant(dialect, 0)).admin });
  const enabled = async () => {
    const options = await fresh();
    await call(r.messaging.enableDmf, dialect, options);
    return options;
  };
  return {
    "messaging.status": enabled,
    "messaging.setPasswords": async () => ({ ...(await enabled()), body: { dmf: "a-long-password" } }),
    "messaging.enableDmf": async () => ({ ...(await enabled()), body: { passwords: { dmf: "a-long-password" }, override: true } }),
    "messaging.enableDmfWithGeneratedPasswords": fresh,
    "messaging.enableSie": fresh,
  };
}
