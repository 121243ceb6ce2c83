import type { Queryable } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import type { Limiter } from "@harrier/service";
import { recordUses } from "../api-keys/record-uses.ts";
import { recordDeniedRequests } from "../audit/record-denied-requests.ts";
import { signInClient } from "../oauth-tokens/sign-in-client.ts";
import { type KeySetNow, publicKeys } from "../oauth-tokens/signing-keys.ts";
import { close, open, recordSessionUses, resolve, type SessionDeps } from "../sessions/sessions.ts";
import { recordGateway } from "../system-status/record-gateway.ts";
import type { PrincipalFeed } from "./principal-feed.ts";
import { resolveToken } from "./resolve-token.ts";
import { signIn } from "./sign-in.ts";

interface Deps extends SessionDeps {
  db: Queryable;
  defaultTenant: string;
  hashing: Pick<Limiter, "run">;
  feed: Pick<PrincipalFeed, "subscribe">;
  /** The keys and the issuer are those of our own token endpoint. */
  keys: { current(): KeySetNow };
  issuer: string;
}

/**
 * Implements harrier.management.v1.IdentityService: administrators and clients sign in, access tokens are resolved, and gateways follow the
 * changes of credentials and send which keys are in use (architecture §2).
 */
export function identityHandlers(deps: Deps): Handlers<"harrier.management.v1.IdentityService"> {
  return {
    signIn: (request) => signIn(deps, request),
    resolveToken: (request) => resolveToken(deps, request),
    signInClient: (request) => signInClient(deps, request),
    readTokenKeys: async () => ({
      issuer: deps.issuer,
      audience: deps.issuer,
      jwks: JSON.stringify(publicKeys(deps.keys.current().keys)),
    }),
    openSession: (request) => open(deps, request),
    resolveSession: (request) => resolve(deps, request),
    closeSession: (request) => close(deps, request),
    noteSessionUses: (request) => recordSessionUses(deps, request),
    watchPrincipalChanges: (_request, ctx, send) => deps.feed.subscribe((message) => void send(message), ctx.signal),
    noteApiKeyUses: (request) => recordUses(deps, request),
    noteNode: (request) => recordGateway(deps, request),
    noteRefusals: (request, ctx) => recordDeniedRequests(deps, request, ctx.commandId ?? ctx.rid),
  };
}
