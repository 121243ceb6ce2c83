import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";

/** May register the target of its path on first contact. */
export const registerPermission = "REGISTER_TARGET";

/**
 * `Authorization: GatewayToken <key>` (contract device.md §9): one key speaks for every device of the tenant,
 * also for those that do not exist yet.
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
