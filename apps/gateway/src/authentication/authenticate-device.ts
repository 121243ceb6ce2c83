import { parseDeviceApiKey } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { type Principal, type Client as RpcClient, servicePrincipal } from "@harrier/rpc";
import type { Client } from "../client/client.ts";
import type { SignInFailures } from "../limits/sign-in-failures.ts";
import { anonymousPrincipal } from "./anonymous-download.ts";
import { apiKeyPrincipal } from "./api-key.ts";
import { type Certificate, certificatePrincipal } from "./certificate.ts";
import { parseCredential } from "./credential.ts";
import type { DeviceCache, DeviceScheme, VerifiedDevice } from "./device-cache.ts";
import { gatewayTokenPrincipal } from "./gateway-token.ts";
import type { KeyUses } from "./key-uses.ts";

/**
 * Makes the principal of `Authorization: TargetToken <securityToken>` (spec 000 §5.6): the device is the target of the path, and it must exist, so
 * this scheme never registers one.
 */
function targetTokenPrincipal(device: VerifiedDevice, controllerId: string): Principal {
  return { tenantId: device.tenantId, tenant: device.tenant, kind: "device", subject: controllerId, controllerId, permissions: [] };
}

export interface DeviceSignIn {
  tenant: string;
  controllerId: string;
  client: Pick<Client, "address" | "hidden">;
  authorization: string | undefined;
  /** The client's certificates as a trusted proxy forwards them. */
  certificates?: readonly Certificate[];
  /** True if the route is open to everybody, where the tenant allows it. */
  download: boolean;
  rid: string;
  traceparent?: string;
  deadline: number;
}

interface Deps {
  cache: DeviceCache;
  verifyDevice: RpcClient<"harrier.controller.v1.DeviceIdentityService">["verifyDevice"];
  uses: Pick<KeyUses, "record">;
  failures: Pick<SignInFailures, "begin">;
}

/** One credential by which this request could be signed in. */
interface Proof {
  scheme: DeviceScheme;
  credential: string;
  digest: string;
  /** The name under which it is cached: an anonymous result is cached once, under an empty name. */
  keptFor: string;
  /** The id in an API key; 0 for other credentials. */
  keyId: number;
}

/** The gateway's own calls before a sign-in have this principal. */
export const nobody: Principal = servicePrincipal("gateway");

/**
 * Authenticates a device. Returns at once when one of its credentials is known, else asks controller about each in the order of the contract
 * (device.md §9); one that fails does not end the chain. Unknown tenant, unknown device and wrong token get the same error: `unauthenticated` (§9.1).
 */
export function authenticateDevice(deps: Deps, request: DeviceSignIn): Principal | Promise<Principal> {
  const proofs = proofsOf(deps.cache, request);
  for (const proof of proofs) {
    const known = deps.cache.lookup(request.tenant, proof.keptFor, proof.digest);
    if (known) return admit(deps, known, proof, request.controllerId);
  }
  if (proofs.length === 0) throw new HarrierError("unauthenticated");
  return verifyOneByOne(deps, request, proofs);
}

function proofsOf(cache: DeviceCache, request: DeviceSignIn): Proof[] {
  const { authorization, certificates, controllerId } = request;
  const proofs: Proof[] = [];
  const add = (scheme: DeviceScheme, credential: string, keptFor: string, keyId = 0): void => {
    proofs.push({ scheme, credential, digest: cache.digest(`${scheme} ${credential}`), keptFor, keyId });
  };
  if (certificates !== undefined) {
    // Another device's certificate proves nothing about the device of the path.
    for (const { name, issuers } of certificates) if (name === controllerId) add("Certificate", issuers, controllerId);
  }
  const credential = parseCredential(authorization);
  if (credential?.scheme === "TargetToken" || credential?.scheme === "GatewayToken") add(credential.scheme, credential.value, controllerId);
  if (credential?.scheme === "ApiKey") {
    const keyId = parseDeviceApiKey(credential.value);
    // It is cached once for all devices of the tenant: no device has a name with a blank in it.
    if (keyId !== undefined) add("ApiKey", credential.value, `key ${keyId}`, keyId);
  }
  if (request.download && authorization === undefined) add("Anonymous", "download", "");
  return proofs;
}

async function verifyOneByOne(deps: Deps, request: DeviceSignIn, proofs: readonly Proof[]): Promise<Principal> {
  const tenant = request.tenant.toUpperCase();
  const goodFor = ({ scheme, keptFor, digest }: Proof) =>
    // One gateway token belongs to all devices: once it is verified for one of them, so it is for the others behind its address.
    deps.cache.digest(`${tenant} ${scheme === "GatewayToken" ? "" : keptFor} ${digest}`);
  const { address, hidden } = request.client;
  const account = `${tenant}/${request.controllerId}`;
  const outcome = deps.failures.begin({ kind: "device", address, hidden, account, credentials: proofs.map(goodFor) });
  for (const proof of proofs) {
    const device = await verify(deps, request, proof);
    if (device === undefined) continue;
    outcome.succeeded(goodFor(proof));
    return admit(deps, device, proof, request.controllerId);
  }
  outcome.failed();
  throw new HarrierError("unauthenticated");
}

async function verify(deps: Deps, request: DeviceSignIn, proof: Proof): Promise<VerifiedDevice | undefined> {
  const generation = deps.cache.generation;
  const { scheme, credential, digest, keptFor } = proof;
  const answer = await deps.verifyDevice(
    { tenant: request.tenant, controllerId: request.controllerId, scheme, credential },
    { principal: nobody, rid: request.rid, ...(request.traceparent && { traceparent: request.traceparent }), deadline: request.deadline },
  );
  if (!answer.ok) return undefined;
  const device: VerifiedDevice = { tenantId: answer.tenantId, tenant: answer.tenant, scheme };
  const { revision, expiresAt } = answer;
  deps.cache.keep(device, { controllerId: keptFor, digest, revision, generation, expiresAt });
  return device;
}

function admit({ uses }: Deps, device: VerifiedDevice, { keyId }: Proof, controllerId: string): Principal {
  switch (device.scheme) {
    case "TargetToken":
      return targetTokenPrincipal(device, controllerId);
    case "GatewayToken":
      return gatewayTokenPrincipal(device, controllerId);
    case "ApiKey":
      uses.record(device.tenantId, keyId);
      return apiKeyPrincipal(device, { keyId, controllerId });
    case "Certificate":
      return certificatePrincipal(device, controllerId);
    case "Anonymous":
      return anonymousPrincipal(device, controllerId);
  }
}
