import type { Client, Principal, SignInClientResponse } from "@harrier/rpc";
import { allowed } from "../allowed.ts";
import { nobody } from "../authenticate-device.ts";
import type { PrincipalCache } from "../principal-cache.ts";
import { asDevice, ofAllDevices, resolveOnce } from "../resolve-once.ts";
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
  const admit = (principal: Principal | undefined) => principal && asDevice(principal, request);
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
  principalOf: ({ clientId }, answer) => (answer.devices ? ofAllDevices(answer, `client ${clientId}`) : undefined),
};

function authenticateAs(kind: PrincipalKind, deps: ClientDeps, request: ClientSignIn): SignedIn {
  const verified = deps.own.verify(request.token);
  if (verified instanceof Promise) return verified.then((token) => token && principalOf(kind, deps, { ...request, verified: token }));
  return verified && principalOf(kind, deps, { ...request, verified });
}

type Verified = ClientSignIn & { verified: ClientToken };

function principalOf(kind: PrincipalKind, { cache, signInClient }: ClientDeps, request: Verified): Principal | Promise<Principal> {
  const { verified, rid, traceparent, deadline } = request;
  return resolveOnce(cache, `${kind.name} ${verified.meaning}`, async () => {
    const { clientId, scopes, generation } = verified;
    const call = { principal: nobody, rid, ...(traceparent && { traceparent }), deadline };
    const answer = await signInClient({ clientId, scopes, generation }, call);
    return { ...answer, principal: answer.ok ? kind.principalOf(verified, answer) : undefined };
  });
}
