import { HarrierError } from "@harrier/errors";
import type { Client, Principal, ResolveTokenResponse } from "@harrier/rpc";
import { allowed } from "../allowed.ts";
import { nobody } from "../authenticate-device.ts";
import { registerPermission } from "../gateway-token.ts";
import type { PrincipalCache } from "../principal-cache.ts";
import type { TokenVerifier, VerifiedToken } from "./token-verifier.ts";

export interface TokenSignIn {
  token: string;
  rid: string;
  traceparent?: string;
  deadline: number;
}

interface Deps {
  tokens: Pick<TokenVerifier, "verify">;
  cache: PrincipalCache;
  resolveToken: Client<"harrier.management.v1.IdentityService">["resolveToken"];
}

/** Who somebody is to one of the two interfaces; undefined: nobody. */
interface Face {
  name: string;
  principalOf(token: VerifiedToken, answer: ResolveTokenResponse): Principal | undefined;
}

/**
 * `Authorization: Bearer <jwt>`: the token is verified here, what its scopes allow in its tenant is management's to say (spec 000 §5.1).
 * Both are kept, the second until management tells of a change; a request with a known token asks nobody.
 */
export function authenticateToken(deps: Deps, request: TokenSignIn): Principal | Promise<Principal> {
  return authenticateAs(user, deps, request);
}

/** The same on the device interface (contract device.md §9): with `device-full-access` it speaks for every device of its tenant. */
export function authenticateDeviceToken(
  deps: Deps,
  request: TokenSignIn & { tenant: string; controllerId: string },
): Principal | Promise<Principal> {
  const found = authenticateAs(devices, deps, request);
  const letIn = (principal: Principal): Principal => {
    if (principal.tenant.toUpperCase() !== request.tenant.toUpperCase()) throw new HarrierError("unauthenticated");
    return { ...principal, controllerId: request.controllerId };
  };
  return found instanceof Promise ? found.then(letIn) : letIn(found);
}

const user: Face = {
  name: "user",
  principalOf: ({ subject }, answer) => ({
    tenantId: answer.tenantId,
    tenant: answer.tenant,
    kind: "user",
    subject,
    external: true,
    ...allowed(answer),
  }),
};

const devices: Face = {
  name: "devices",
  principalOf({ subject }, answer) {
    if (!answer.devices) return undefined;
    const { tenantId, tenant } = answer;
    // a name of its own: it is none of a device
    return { tenantId, tenant, kind: "device", subject: `token ${subject}`, external: true, permissions: [registerPermission] };
  },
};

function authenticateAs(face: Face, deps: Deps, request: TokenSignIn): Principal | Promise<Principal> {
  const verified = deps.tokens.verify(request.token);
  if (verified instanceof Promise) return verified.then((token) => principalOf(face, deps, { ...request, verified: token }));
  return principalOf(face, deps, { ...request, verified });
}

type Verified = TokenSignIn & { verified: VerifiedToken };

function principalOf(face: Face, deps: Deps, request: Verified): Principal | Promise<Principal> {
  const digest = deps.cache.digest(`${face.name} ${request.verified.meaning}`);
  return deps.cache.lookup(digest) ?? resolve(face, deps, { ...request, digest });
}

async function resolve(face: Face, deps: Deps, request: Verified & { digest: string }): Promise<Principal> {
  const generation = deps.cache.generation;
  const { verified, rid, traceparent, deadline, digest } = request;
  const { tenant, scopes } = verified;
  const answer = await deps.resolveToken(
    { tenant, user: verified.user, scopes },
    { principal: nobody, rid, ...(traceparent && { traceparent }), deadline },
  );
  const principal = answer.ok ? face.principalOf(verified, answer) : undefined;
  if (principal === undefined) throw new HarrierError("unauthenticated");
  deps.cache.keep(digest, { principal, userId: answer.userId, revision: answer.revision, generation });
  return principal;
}
