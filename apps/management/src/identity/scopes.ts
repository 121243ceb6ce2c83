import { tenantPermissions } from "./permissions.ts";

/** Scopes that stand for more than one permission (contract extensions.md). */
export const fullAccess = { management: "management-full-access", devices: "device-full-access" } as const;

const rolePrefix = "role:";

/** What the scopes of an access token say before anything of their tenant is known. */
export interface ScopeMeaning {
  permissions: string[];
  /** Names of roles, which the tenant has or not. */
  roles: string[];
  /** Speaks for every device of the tenant. */
  devices: boolean;
}

/**
 * Words of our own have the same meaning in every tenant: a role of such a name is meant by `role:<name>` alone. Every other scope is the name
 * of a role (spec 000 §5.1), `SYSTEM_ADMIN` too: the permission of that name concerns all tenants, and no issuer of one gives it away.
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
