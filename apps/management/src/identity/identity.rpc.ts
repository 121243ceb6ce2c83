import type { Queryable } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import type { PrincipalFeed } from "./principal-feed.ts";
import { signIn } from "./sign-in.ts";

interface Deps {
  db: Queryable;
  defaultTenant: string;
  feed: Pick<PrincipalFeed, "subscribe">;
}

/** harrier.management.v1.IdentityService: administrators sign in, and gateways hear what to forget (architecture §2). */
export function identityHandlers(deps: Deps): Handlers<"harrier.management.v1.IdentityService"> {
  return {
    signIn: (request) => signIn(deps, request),
    watchPrincipalChanges: (_request, ctx, send) => deps.feed.subscribe((message) => void send(message), ctx.signal),
  };
}
