import { type Queryable, runOne } from "@harrier/db";
import type { SignInClientRequest, SignInClientResponse } from "@harrier/rpc";
import { allowed } from "../identity/allowed.ts";
import { feedIdOf, parseClientId } from "../oauth-clients/client-id.ts";
import { grantsOfScopes, partsOfScopes } from "../oauth-clients/scope-grants.ts";
import { findSignedInClient } from "./token-clients.sql.ts";

const nobody = { ok: false, tenantId: 0, tenant: "", permissions: [], targetTypeScopes: {}, devices: false, userId: 0 };

/**
 * Returns what a client may do now, by a token of our own whose signature the gateway has verified (spec 000 §5.2): the scopes of the token
 * that the client still has. The client is not signed in if it is deleted, its tokens were ended, or its tenant is suspended.
 */
export async function signInClient(deps: { db: Queryable }, request: SignInClientRequest): Promise<SignInClientResponse> {
  const key = parseClientId(request.clientId);
  if (key === undefined) return { ...nobody, revision: 0 };
  const { tenantId, id } = key;
  const { revision = 0, tenant, scopes, generation } = (await runOne(deps.db, findSignedInClient, [tenantId, id])) ?? {};
  if (tenant === undefined || !scopes || generation !== request.generation) return { ...nobody, revision };
  const parts = partsOfScopes(request.scopes.filter((scope) => scopes.includes(scope)));
  const grants = allowed(await grantsOfScopes(deps.db, tenantId, parts));
  return { ok: true, tenantId, tenant, ...grants, devices: parts.devices, revision, userId: feedIdOf(id) };
}
