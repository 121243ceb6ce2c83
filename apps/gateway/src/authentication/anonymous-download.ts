import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";

/** Subject of who has not signed in. A device may be called so as well: do not decide by it who may do something. */
export const anonymous = "anonymous";

/**
 * Nobody, where the tenant lets anybody download (spec 000 §2.4, contract device.md D17). What may be downloaded still depends on the device of
 * the path: artifact-store looks at its actions as for any other.
 */
export function anonymousPrincipal(device: VerifiedDevice, controllerId: string): Principal {
  const { tenantId, tenant } = device;
  return { tenantId, tenant, kind: "device", subject: anonymous, controllerId, permissions: [] };
}
