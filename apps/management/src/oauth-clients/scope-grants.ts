import { meaningOfScope } from "@harrier/contracts";
import { type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import { type HeldGrants, uncovered } from "../grants/covers.ts";
import { type Grants, merged } from "../grants/grants.ts";
import { allPermissions, systemPermission, tenantPermissions } from "../identity/permissions.ts";
import { grantsOfRoles } from "../roles/roles.ts";
import { unknownRoles } from "./oauth-clients.sql.ts";

/** This is what scopes stand for, except for roles, which only the tenant knows. */
export interface ScopeParts {
  permissions: string[];
  roles: string[];
  /** The client authenticates every device of the tenant. */
  devices: boolean;
}

/** Devices may be authenticated by a user who may create API keys, because such a key can do that anyway (spec 000 §4.3). */
const permissionForDevices = "API_KEY";

/** Names that this version does not know allow nothing. */
export function partsOfScopes(scopes: readonly string[]): ScopeParts {
  const meanings = scopes.map(meaningOfScope);
  const permissions = meanings.flatMap((meaning) => {
    if (meaning?.kind === "management") return tenantPermissions;
    return meaning?.kind === "permission" && allPermissions.includes(meaning.name) ? [meaning.name] : [];
  });
  return {
    permissions: [...new Set(permissions)],
    roles: meanings.flatMap((meaning) => (meaning?.kind === "role" ? [meaning.name] : [])),
    devices: meanings.some((meaning) => meaning?.kind === "device"),
  };
}

/** Returns what scopes allow in a tenant now: a role counts as it is at this moment (spec 000 §5.1). */
export async function grantsOfScopes(db: Queryable, tenantId: number, { permissions, roles }: ScopeParts): Promise<Grants> {
  const own: Grants = { permissions, scoped: {} };
  return roles.length === 0 ? own : merged([own, await grantsOfRoles({ db }, tenantId, roles)]);
}

/** Checks that scopes can be given to a client: permissions and roles of these names exist, and the granter holds what they allow. */
export async function checkScopes(db: Queryable, granter: HeldGrants & { tenantId: number }, scopes: readonly string[]): Promise<void> {
  const parts = partsOfScopes(scopes);
  const unknown = scopes.map(meaningOfScope).find((meaning) => meaning?.kind === "permission" && !allPermissions.includes(meaning.name));
  if (unknown?.kind === "permission") throw new HarrierError("constraintViolation", `There is no scope ${unknown.name}.`);
  if (parts.roles.length > 0) {
    const missing = await runOne(db, unknownRoles, [granter.tenantId, parts.roles]);
    if (missing !== undefined) throw entityNotFound("Role", missing.name);
  }
  await checkCovered(db, granter, parts);
}

/** Refuses scopes that allow more than the granter's own permissions. */
export async function checkCovered(db: Queryable, granter: HeldGrants & { tenantId: number }, parts: ScopeParts): Promise<void> {
  const lacking = uncovered(granter, await grantsOfScopes(db, granter.tenantId, parts));
  if (lacking !== undefined) throw lacksPermission([lacking]);
  if (parts.devices && !granter.permissions.includes(permissionForDevices)) throw lacksPermission([permissionForDevices]);
}

/**
 * Only the operator may change clients that have the operator's permission, by themselves or by a role; the same is true of users
 * (grants/change-grants.ts).
 */
export async function checkOperator(db: Queryable, caller: HeldGrants & { tenantId: number }, scopes: readonly string[]): Promise<void> {
  if (caller.permissions.includes(systemPermission)) return;
  const { permissions } = await grantsOfScopes(db, caller.tenantId, partsOfScopes(scopes));
  if (permissions.includes(systemPermission)) throw lacksPermission([systemPermission]);
}
