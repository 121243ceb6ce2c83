import { deviceApiKeyPrefix } from "@harrier/contracts";
import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";
import { registerPermission } from "./gateway-token.ts";

/**
 * `Authorization: ApiKey dsik_…`, or the key alone (spec 000 §5.5): it speaks for every device of its tenant, also for those that do not
 * exist yet, and for none of another one.
 */
export function apiKeyPrincipal(
  { tenantId, tenant }: VerifiedDevice,
  { keyId, controllerId }: { keyId: number; controllerId: string },
): Principal {
  // as much of the key as may be shown
  const subject = `${deviceApiKeyPrefix}${keyId}`;
  return { tenantId, tenant, kind: "device", subject, controllerId, permissions: [registerPermission] };
}
