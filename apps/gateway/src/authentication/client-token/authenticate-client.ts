import { HarrierError } from "@harrier/errors";
import type { Client, Principal, SignInClientResponse } from "@harrier/rpc";
import { allowed } from "../allowed.ts";
import { nobody } from "../authenticate-device.ts";
import { registerPermission } from "../gateway-token.ts";
import type { PrincipalCache } from "../principal-cache.ts";
import type { ClientToken, OwnTokens } from "./own-tokens.ts";

export interface ClientSignIn {
  token: string;
  rid: string;
  traceparent?: string;
  deadline: number;
}

export interface ClientDeps {
  own: Pick<OwnTokens, "verify">;
  cache: PrincipalCache;
  signInClient: Client<"harrier.management.v1.IdentityService">["signInClient"];
}

/** Makes the principal of a client on one of the two interfaces; undefined means not signed in. */
interface PrincipalKind {
  name: string;
  principalOf(token: ClientToken, answer: SignInClientResponse): Principal | undefined;
}

type SignedIn = Principal | undefined | Promise<Principal | undefined>;

/**
 * Authenticates a client by a token of our own token endpoint (spec 000 §5.2); undefined if it is not one of ours. Management resolves its
 * permissions, and the result is cached until it reports a change; a request with a known token makes no call.
 */
export function authenticateClient(deps: ClientDeps, request: ClientSignIn): SignedIn {
  return authenticateAs(user, deps, request);
}

/**
 * Does the same at the device interface (contract device.md §9, row 5): a client with the scope for it authenticates every device of its tenant, even
 * those that do not exist yet, and none of another tenant.
 */
export function authenticateDeviceClient(deps: ClientDeps, request: ClientSignIn & { tenant: string; controllerId: string }): SignedIn {
  const found = authenticateAs(devices, deps, request);
  const admit = (principal: Principal | undefined): Principal | undefined => {
    if (principal === undefined) return undefined;
    if (principal.tenant.toUpperCase() !== request.tenant.toUpperCase()) throw new HarrierError("unauthenticated");
    return { ...principal, controllerId: request.controllerId };
  };
  return found instanceof Promise ? found.then(admit) : admit(found);
}

const user: PrincipalKind = {
  name: "client",
  principalOf: ({ clientId }, answer) => ({
    tenantId: answer.tenantId,
    tenant: answer.tenant,
    kind: "user",
    subject: clientId,
    // a user of this name is another principal
    external: true,
    ...allowed(answer),
  }),
};

const devices: PrincipalKind = {
  name: "devices of client",
  principalOf({ clientId }, answer) {
    if (!answer.devices) return undefined;
    const { tenantId, tenant } = answer;
    // The subject differs from that of every device.
    return { tenantId, tenant, kind: "device", subject: `client ${clientId}`, external: true, permissions: [registerPermission] };
  },
};

function authenticateAs(kind: PrincipalKind, deps: ClientDeps, request: ClientSignIn): SignedIn {
  const verified = deps.own.verify(request.token);
  if (verified instanceof Promise) return verified.then((token) => token && principalOf(kind, deps, { ...request, verified: token }));
  return verified && principalOf(kind, deps, { ...request, verified });
}

type Verified = ClientSignIn & { verified: ClientToken };

function principalOf(kind: PrincipalKind, deps: ClientDeps, request: Verified): Principal | Promise<Principal> {
  const digest = deps.cache.digest(`${kind.name} ${request.verified.meaning}`);
  return deps.cache.lookup(digest) ?? ask(kind, deps, { ...request, digest });
}

async function ask(kind: PrincipalKind, deps: ClientDeps, request: Verified & { digest: string }): Promise<Principal> {
  const generation = deps.cache.generation;
  const { verified, rid, traceparent, deadline, digest } = request;
  const { clientId, scopes, generation: ofTokens } = verified;
  const answer = await deps.signInClient(
    { clientId, scopes, generation: ofTokens },
    { principal: nobody, rid, ...(traceparent && { traceparent }), deadline },
  );
  const principal = answer.ok ? kind.principalOf(verified, answer) : undefined;
  if (principal === undefined) throw new HarrierError("unauthenticated");
  deps.cache.keep(digest, { principal, userId: answer.userId, revision: answer.revision, generation });
  return principal;
}
