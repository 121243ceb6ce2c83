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

/** Who a client is to one of the two interfaces; undefined: nobody. */
interface Face {
  name: string;
  principalOf(token: ClientToken, answer: SignInClientResponse): Principal | undefined;
}

type Found = Principal | undefined | Promise<Principal | undefined>;

/**
 * A client by a token of our own token endpoint (spec 000 §5.2), undefined where it is none of ours. What the client may do is management's
 * to say, and kept until it tells of a change; a request with a known token asks nobody.
 */
export function authenticateClient(deps: ClientDeps, request: ClientSignIn): Found {
  return authenticateAs(user, deps, request);
}

/**
 * The same at the device interface (contract device.md §9, row 5): a client with the scope for it speaks for every device of its tenant, also
 * for those that do not exist yet, and for none of another one.
 */
export function authenticateDeviceClient(deps: ClientDeps, request: ClientSignIn & { tenant: string; controllerId: string }): Found {
  const found = authenticateAs(devices, deps, request);
  const letIn = (principal: Principal | undefined): Principal | undefined => {
    if (principal === undefined) return undefined;
    if (principal.tenant.toUpperCase() !== request.tenant.toUpperCase()) throw new HarrierError("unauthenticated");
    return { ...principal, controllerId: request.controllerId };
  };
  return found instanceof Promise ? found.then(letIn) : letIn(found);
}

const user: Face = {
  name: "client",
  principalOf: ({ clientId }, answer) => ({
    tenantId: answer.tenantId,
    tenant: answer.tenant,
    kind: "user",
    subject: clientId,
    // no user of this name is meant
    external: true,
    ...allowed(answer),
  }),
};

const devices: Face = {
  name: "devices of client",
  principalOf({ clientId }, answer) {
    if (!answer.devices) return undefined;
    const { tenantId, tenant } = answer;
    // a name of its own: it is none of a device
    return { tenantId, tenant, kind: "device", subject: `client ${clientId}`, external: true, permissions: [registerPermission] };
  },
};

function authenticateAs(face: Face, deps: ClientDeps, request: ClientSignIn): Found {
  const verified = deps.own.verify(request.token);
  if (verified instanceof Promise) return verified.then((token) => token && principalOf(face, deps, { ...request, verified: token }));
  return verified && principalOf(face, deps, { ...request, verified });
}

type Verified = ClientSignIn & { verified: ClientToken };

function principalOf(face: Face, deps: ClientDeps, request: Verified): Principal | Promise<Principal> {
  const digest = deps.cache.digest(`${face.name} ${request.verified.meaning}`);
  return deps.cache.lookup(digest) ?? ask(face, deps, { ...request, digest });
}

async function ask(face: Face, deps: ClientDeps, request: Verified & { digest: string }): Promise<Principal> {
  const generation = deps.cache.generation;
  const { verified, rid, traceparent, deadline, digest } = request;
  const { clientId, scopes, generation: ofTokens } = verified;
  const answer = await deps.signInClient(
    { clientId, scopes, generation: ofTokens },
    { principal: nobody, rid, ...(traceparent && { traceparent }), deadline },
  );
  const principal = answer.ok ? face.principalOf(verified, answer) : undefined;
  if (principal === undefined) throw new HarrierError("unauthenticated");
  deps.cache.keep(digest, { principal, userId: answer.userId, revision: answer.revision, generation });
  return principal;
}
