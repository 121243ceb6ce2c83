import { type Queryable, runOne } from "@harrier/db";
import type { ResolveTokenRequest, ResolveTokenResponse } from "@harrier/rpc";
import { merged, noGrants } from "../grants/grants.ts";
import { grantsOfRoles } from "../roles/roles.ts";
import { allowed } from "./allowed.ts";
import { findTokenTenant } from "./resolve-token.sql.ts";
import { meaningOf } from "./scopes.ts";

// PostgreSQL does not accept a NUL in a text, and no tenant, user or role has such a name.
const controls = /\p{Cc}/u;

/**
 * Returns what an access token allows in its tenant: what its scopes say, by themselves or by the roles that they name (spec 000 §5.1), and
 * what was granted here to a user of that name who signs in at the identity provider (contract management.md §10.1). Unknown scopes allow
 * nothing.
 */
export async function resolveToken(deps: { db: Queryable }, request: ResolveTokenRequest): Promise<ResolveTokenResponse> {
  const { tenant, user } = request;
  const found = controls.test(tenant + user) ? undefined : await runOne(deps.db, findTokenTenant, [tenant, user]);
  const revision = found?.revision ?? 0;
  if (found?.tenantId === undefined || found.tenantId === null) return { ok: false, ...nobody, revision };
  const { permissions, roles, devices } = meaningOf(request.scopes.filter((scope) => !controls.test(scope)));
  const own = found.permissions && found.scoped ? { permissions: found.permissions, scoped: found.scoped } : noGrants;
  // The roles are read after the tenant, so that the answer is at least as new as the revision.
  const ofRoles = roles.length === 0 ? noGrants : await grantsOfRoles(deps, found.tenantId, roles);
  return {
    ok: true,
    tenantId: found.tenantId,
    tenant: found.tenant ?? "",
    ...allowed(merged([{ permissions, scoped: {} }, own, ofRoles])),
    devices,
    revision,
    userId: found.userId ?? 0,
  };
}

const nobody = { tenantId: 0, tenant: "", permissions: [], targetTypeScopes: {}, devices: false, userId: 0 };
