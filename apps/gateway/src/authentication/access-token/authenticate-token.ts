import type { Client, Principal, ResolveTokenResponse } from "@harrier/rpc";
import { allowed } from "../allowed.ts";
import { nobody } from "../authenticate-device.ts";
import type { PrincipalCache } from "../principal-cache.ts";
import { asDevice, ofAllDevices, resolveOnce } from "../resolve-once.ts";
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

/** Makes the principal for one of the two interfaces; undefined means not signed in. */
interface PrincipalKind {
  name: string;
  principalOf(token: VerifiedToken, answer: ResolveTokenResponse): Principal | undefined;
}

/**
 * Verifies the token of `Authorization: Bearer <jwt>`, and lets management resolve its scopes in its tenant (spec 000 §5.1). Both results are cached,
 * the second until management reports a change; a request with a known token makes no call.
 */
export function authenticateToken(deps: Deps, request: TokenSignIn): Principal | Promise<Principal> {
  return authenticateAs(user, deps, request);
}

/** Does the same on the device interface (contract device.md §9): with `device-full-access` the token authenticates every device of its tenant. */
export function authenticateDeviceToken(
  deps: Deps,
  request: TokenSignIn & { tenant: string; controllerId: string },
): Principal | Promise<Principal> {
  const found = authenticateAs(devices, deps, request);
  return found instanceof Promise ? found.then((principal) => asDevice(principal, request)) : asDevice(found, request);
}

const user: PrincipalKind = {
  name: "user",
  principalOf: ({ subject, issuer }, answer) => ({
    tenantId: answer.tenantId,
    tenant: answer.tenant,
    kind: "user",
    subject,
    external: true,
    issuer,
    ...(answer.userId > 0 && { userId: answer.userId }),
    ...allowed(answer),
  }),
};

const devices: PrincipalKind = {
  name: "devices",
  principalOf: ({ subject }, answer) => (answer.devices ? ofAllDevices(answer, `token ${subject}`) : undefined),
};

function authenticateAs(kind: PrincipalKind, deps: Deps, request: TokenSignIn): Principal | Promise<Principal> {
  const verified = deps.tokens.verify(request.token);
  if (verified instanceof Promise) return verified.then((token) => principalOf(kind, deps, { ...request, verified: token }));
  return principalOf(kind, deps, { ...request, verified });
}

type Verified = TokenSignIn & { verified: VerifiedToken };

function principalOf(kind: PrincipalKind, { cache, resolveToken }: Deps, request: Verified): Principal | Promise<Principal> {
  const { verified, rid, traceparent, deadline } = request;
  return resolveOnce(cache, `${kind.name} ${verified.meaning}`, async () => {
    const { tenant, user, scopes } = verified;
    const answer = await resolveToken({ tenant, user, scopes }, { principal: nobody, rid, ...(traceparent && { traceparent }), deadline });
    return { ...answer, principal: answer.ok ? kind.principalOf(verified, answer) : undefined };
  });
}
