import type { Queryable } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import type { Turns } from "@harrier/service";
import { noteUses } from "../api-keys/note-uses.ts";
import { noteRefusals } from "../audit/note-refusals.ts";
import { signInClient } from "../oauth-tokens/sign-in-client.ts";
import { type KeySetNow, publicKeys } from "../oauth-tokens/signing-keys.ts";
import type { PrincipalFeed } from "./principal-feed.ts";
import { resolveToken } from "./resolve-token.ts";
import { signIn } from "./sign-in.ts";

interface Deps {
  db: Queryable;
  defaultTenant: string;
  hashing: Pick<Turns, "run">;
  feed: Pick<PrincipalFeed, "subscribe">;
  /** Of our own token endpoint. */
  keys: { current(): KeySetNow };
  issuer: string;
}

/**
 * harrier.management.v1.IdentityService: administrators and clients sign in, access tokens get their meaning, and gateways hear what to forget
 * and tell which keys are in use (architecture §2).
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
    watchPrincipalChanges: (_request, ctx, send) => deps.feed.subscribe((message) => void send(message), ctx.signal),
    noteApiKeyUses: (request) => noteUses(deps, request),
    noteRefusals: (request, ctx) => noteRefusals(deps, request, ctx.commandId ?? ctx.rid),
  };
}
