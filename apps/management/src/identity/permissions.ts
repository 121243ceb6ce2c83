import { type PermissionRow, permissionTable } from "@harrier/contracts";

const table: Readonly<Record<string, PermissionRow>> = permissionTable;

/** These are all permissions of the interface (spec 001 §5; contract management.md §3). */
export const allPermissions: readonly string[] = Object.keys(table);

/** These permissions concern all tenants: only users of the operator hold and grant them. */
export const systemPermission = "SYSTEM_ADMIN";

/** These permissions allow everything that can be done within a tenant: the predefined role SYSTEM_ADMIN (spec 000 §4.3; contract extensions.md). */
export const tenantPermissions: readonly string[] = allPermissions.filter((permission) => permission !== systemPermission);

/** These permissions may be restricted to target types (spec 001 §5). */
export function isTargetRelated(permission: string): boolean {
  return Object.hasOwn(table, permission) && table[permission]?.targetRelated === true;
}

/** Returns the permissions held and those that they imply, each once. */
export function withImplied(held: readonly string[]): string[] {
  return [...new Set(held.flatMap((permission) => [permission, ...(table[permission]?.implies ?? [])]))];
}
