import { HarrierError } from "@harrier/errors";
import { type Client, type Principal, servicePrincipal } from "@harrier/rpc";
import { parseCredential } from "./credential.ts";
import type { DeviceCache, VerifiedDevice } from "./device-cache.ts";
import { gatewayTokenPrincipal } from "./gateway-token.ts";
import { targetTokenPrincipal } from "./target-token.ts";

export interface DeviceSignIn {
  tenant: string;
  controllerId: string;
  authorization: string | undefined;
  rid: string;
  traceparent: string;
  deadline: number;
}

interface Deps {
  cache: DeviceCache;
  verifyDevice: Client<"harrier.controller.v1.DeviceIdentityService">["verifyDevice"];
}

/** Nobody yet: what the gateway calls with before anyone is signed in. */
export const nobody: Principal = servicePrincipal("gateway");

/**
 * Who is this device? Answers at once when the credential is known, else asks controller.
 * Unknown tenant, unknown device and wrong token look alike: `unauthenticated` (contract device.md §9.1).
 */
export function authenticateDevice(deps: Deps, request: DeviceSignIn): Principal | Promise<Principal> {
  const credential = parseCredential(request.authorization);
  if (credential?.scheme !== "TargetToken" && credential?.scheme !== "GatewayToken") throw new HarrierError("unauthenticated");
  const digest = deps.cache.digest(`${credential.scheme} ${credential.value}`);
  const known = deps.cache.lookup(request.tenant, request.controllerId, digest);
  if (known) return principalOf(known, request.controllerId);
  return verify(deps, request, { scheme: credential.scheme, value: credential.value, digest });
}

async function verify(
  deps: Deps,
  request: DeviceSignIn,
  credential: { scheme: string; value: string; digest: string },
): Promise<Principal> {
  const generation = deps.cache.generation;
  const answer = await deps.verifyDevice(
    { tenant: request.tenant, controllerId: request.controllerId, scheme: credential.scheme, credential: credential.value },
    { principal: nobody, rid: request.rid, traceparent: request.traceparent, deadline: request.deadline },
  );
  if (!answer.ok) throw new HarrierError("unauthenticated");
  const device: VerifiedDevice = { tenantId: answer.tenantId, tenant: answer.tenant, gateway: credential.scheme === "GatewayToken" };
  deps.cache.keep(device, { controllerId: request.controllerId, digest: credential.digest, revision: answer.revision, generation });
  return principalOf(device, request.controllerId);
}

function principalOf(device: VerifiedDevice, controllerId: string): Principal {
  return device.gateway ? gatewayTokenPrincipal(device, controllerId) : targetTokenPrincipal(device, controllerId);
}
