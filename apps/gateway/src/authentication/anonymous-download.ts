import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";

/** The subject of an unauthenticated client. A device may have this name as well, so no permission may be decided by it. */
export const anonymous = "anonymous";

/**
 * Makes the anonymous principal, where the tenant allows anonymous downloads (spec 000 §2.4, contract device.md D17). The device of the path still
 * decides what may be downloaded: artifact-store checks its actions as for any other.
 */
export function anonymousPrincipal(device: VerifiedDevice, controllerId: string): Principal {
  const { tenantId, tenant } = device;
  return { tenantId, tenant, kind: "device", subject: anonymous, controllerId, permissions: [] };
}
