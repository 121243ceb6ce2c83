import { meaningOfScope } from "@harrier/contracts";
import { type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError, lacksPermission } from "@harrier/errors";
import { type Held, uncovered } from "../grants/covers.ts";
import { type Grants, merged } from "../grants/grants.ts";
import { allPermissions, systemPermission, tenantPermissions } from "../identity/permissions.ts";
import { grantsOfRoles } from "../roles/roles.ts";
import { unknownRoles } from "./oauth-clients.sql.ts";

/** What scopes stand for, but for roles, which only the tenant knows. */
export interface ScopeParts {
  permissions: string[];
  roles: string[];
  /** Speaks for every device of the tenant. */
  devices: boolean;
}

/** Whoever could make an API key could let devices in anyway (spec 000 §4.3). */
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

/** What scopes allow in a tenant now: a role is what it is at this moment (spec 000 §5.1). */
export async function grantsOfScopes(db: Queryable, tenantId: number, { permissions, roles }: ScopeParts): Promise<Grants> {
  const own: Grants = { permissions, scoped: {} };
  return roles.length === 0 ? own : merged([own, await grantsOfRoles({ db }, tenantId, roles)]);
}

/** Scopes can be given to a client: permissions and roles of these names exist, and the giver may do himself what they allow. */
export async function checkScopes(db: Queryable, giver: Held & { tenantId: number }, scopes: readonly string[]): Promise<void> {
  const parts = partsOfScopes(scopes);
  const unknown = scopes.map(meaningOfScope).find((meaning) => meaning?.kind === "permission" && !allPermissions.includes(meaning.name));
  if (unknown?.kind === "permission") throw new HarrierError("constraintViolation", `There is no scope ${unknown.name}.`);
  if (parts.roles.length > 0) {
    const missing = await runOne(db, unknownRoles, [giver.tenantId, parts.roles]);
    if (missing !== undefined) throw entityNotFound("Role", missing.name);
  }
  await checkCovered(db, giver, parts);
}

/** Nobody gets more by way of a client than he has. */
export async function checkCovered(db: Queryable, giver: Held & { tenantId: number }, parts: ScopeParts): Promise<void> {
  const lacking = uncovered(giver, await grantsOfScopes(db, giver.tenantId, parts));
  if (lacking !== undefined) throw lacksPermission([lacking]);
  if (parts.devices && !giver.permissions.includes(permissionForDevices)) throw lacksPermission([permissionForDevices]);
}

/** Clients with the operator's permission, their own or by a role, are the operator's alone, as users are (grants/change-grants.ts). */
export async function checkOperator(db: Queryable, caller: Held & { tenantId: number }, scopes: readonly string[]): Promise<void> {
  if (caller.permissions.includes(systemPermission)) return;
  const { permissions } = await grantsOfScopes(db, caller.tenantId, partsOfScopes(scopes));
  if (permissions.includes(systemPermission)) throw lacksPermission([systemPermission]);
}
