import { tenantPermissions } from "./permissions.ts";

/** These scopes stand for more than one permission (contract extensions.md). */
export const fullAccess = { management: "management-full-access", devices: "device-full-access" } as const;

const rolePrefix = "role:";

/** This is what the scopes of an access token say before anything of their tenant is known. */
export interface ScopeMeaning {
  permissions: string[];
  /** These are names of roles, which the tenant may or may not have. */
  roles: string[];
  /** The token authenticates every device of the tenant. */
  devices: boolean;
}

/**
 * Reads the scopes of a token. Built-in scopes have the same meaning in every tenant: a role of such a name can only be named by
 * `role:<name>`. Every other scope is the name of a role (spec 000 §5.1), `SYSTEM_ADMIN` too: the permission of that name concerns all
 * tenants, and no issuer of a single tenant may grant it.
 */
export function meaningOf(scopes: readonly string[]): ScopeMeaning {
  const meaning: ScopeMeaning = { permissions: [], roles: [], devices: false };
  for (const scope of new Set(scopes)) {
    if (scope === fullAccess.management) meaning.permissions.push(...tenantPermissions);
    else if (scope === fullAccess.devices) meaning.devices = true;
    else if (tenantPermissions.includes(scope)) meaning.permissions.push(scope);
    else meaning.roles.push(scope.startsWith(rolePrefix) ? scope.slice(rolePrefix.length) : scope);
  }
  return meaning;
}
