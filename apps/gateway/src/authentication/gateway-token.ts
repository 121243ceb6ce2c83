import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";

/** A principal with this permission may register the target of its path at its first poll. */
export const registerPermission = "REGISTER_TARGET";

/**
 * Makes the principal of `Authorization: GatewayToken <key>` (contract device.md §9): one key authenticates every device of the tenant, even those
 * that do not exist yet.
 */
export function gatewayTokenPrincipal(device: VerifiedDevice, controllerId: string): Principal {
  return {
    tenantId: device.tenantId,
    tenant: device.tenant,
    kind: "device",
    subject: "gateway",
    controllerId,
    permissions: [registerPermission],
  };
}
