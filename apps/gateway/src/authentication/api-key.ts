import { deviceApiKeyPrefix } from "@harrier/contracts";
import type { Principal } from "@harrier/rpc";
import type { VerifiedDevice } from "./device-cache.ts";
import { registerPermission } from "./gateway-token.ts";

/**
 * Makes the principal of `Authorization: ApiKey dsik_…`, or of the key alone (spec 000 §5.5): it authenticates every device of its tenant, even those
 * that do not exist yet, and none of another tenant.
 */
export function apiKeyPrincipal(
  { tenantId, tenant }: VerifiedDevice,
  { keyId, controllerId }: { keyId: number; controllerId: string },
): Principal {
  // Only this part of the key may be shown.
  const subject = `${deviceApiKeyPrefix}${keyId}`;
  return { tenantId, tenant, kind: "device", subject, controllerId, permissions: [registerPermission] };
}
