import { HarrierError } from "@harrier/errors";
import type { Client, Principal } from "@harrier/rpc";
import { nobody } from "./authenticate-device.ts";
import { parseBasic } from "./basic.ts";
import { parseCredential } from "./credential.ts";
import type { PrincipalCache } from "./principal-cache.ts";

export interface UserSignIn {
  authorization: string | undefined;
  rid: string;
  traceparent: string;
  deadline: number;
}

interface Deps {
  cache: PrincipalCache;
  signIn: Client<"harrier.management.v1.IdentityService">["signIn"];
}

/** Who is this administrator? Basic for now (contract management.md §1.1); wrong in any way: `unauthenticated`. */
export function authenticateUser(deps: Deps, request: UserSignIn): Principal | Promise<Principal> {
  const credential = parseCredential(request.authorization);
  const basic = credential?.scheme === "Basic" ? parseBasic(credential.value) : undefined;
  if (!basic) throw new HarrierError("unauthenticated");
  const digest = deps.cache.digest(request.authorization as string);
  return deps.cache.lookup(digest) ?? verify(deps, request, { ...basic, digest });
}

async function verify(deps: Deps, request: UserSignIn, basic: { username: string; password: string; digest: string }): Promise<Principal> {
  const generation = deps.cache.generation;
  const answer = await deps.signIn(
    { username: basic.username, password: basic.password },
    { principal: nobody, rid: request.rid, traceparent: request.traceparent, deadline: request.deadline },
  );
  if (!answer.ok) throw new HarrierError("unauthenticated");
  const principal: Principal = {
    tenantId: answer.tenantId,
    tenant: answer.tenant,
    kind: "user",
    subject: answer.subject,
    permissions: answer.permissions,
  };
  deps.cache.keep(basic.digest, { principal, userId: answer.userId, revision: answer.revision, generation });
  return principal;
}
