import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";

/**
 * Makes the principal of `Authorization: TargetToken <securityToken>` (spec 000 §5.6): the device is the target of the path, and it must exist, so
 * this scheme never registers one.
 */
export function targetTokenPrincipal(device: VerifiedDevice, controllerId: string): Principal {
  return { tenantId: device.tenantId, tenant: device.tenant, kind: "device", subject: controllerId, controllerId, permissions: [] };
}
