import type { Client } from "@harrier/rpc";
import { orUnavailable } from "../authentication/or-unavailable.ts";
import type { PrincipalCache } from "../authentication/principal-cache.ts";
import type { SessionUses } from "../authentication/session/session-uses.ts";
import { Sessions } from "../authentication/session/sessions.ts";
import type { SignInFailures } from "../limits/sign-in-failures.ts";

interface Options {
  identity: Client<"harrier.management.v1.IdentityService">;
  principals: PrincipalCache;
  failures: SignInFailures;
  uses: SessionUses;
}

/** Makes the sessions that management keeps. */
export function createSessions({ identity, principals, failures, uses }: Options): Sessions {
  return new Sessions({
    openSession: orUnavailable(identity.openSession),
    resolveSession: orUnavailable(identity.resolveSession),
    closeSession: orUnavailable(identity.closeSession),
    cache: principals,
    failures,
    uses,
    now: Date.now,
  });
}
