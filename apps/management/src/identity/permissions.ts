const crud = (subject: string): string[] => ["READ", "CREATE", "UPDATE", "DELETE"].map((verb) => `${verb}_${subject}`);

/** These are all permissions of the interface (spec 001 §5; contract management.md §3). */
export const allPermissions: readonly string[] = [
  ...crud("TARGET"),
  ...crud("REPOSITORY"),
  ...crud("ROLLOUT"),
  "HANDLE_ROLLOUT",
  "APPROVE_ROLLOUT",
  "DOWNLOAD_REPOSITORY_ARTIFACT",
  "READ_TARGET_SECURITY_TOKEN",
  "READ_GATEWAY_SECURITY_TOKEN",
  "READ_TENANT_CONFIGURATION",
  "TENANT_CONFIGURATION",
  "USER_MANAGEMENT",
  "ROLE_MANAGEMENT",
  "API_KEY",
  "SYSTEM_ADMIN",
];

/** These permissions concern all tenants: only users of the operator hold and grant them. */
export const systemPermission = "SYSTEM_ADMIN";

/** These permissions allow everything that can be done within a tenant: the predefined role SYSTEM_ADMIN (spec 000 §4.3; contract extensions.md). */
export const tenantPermissions: readonly string[] = allPermissions.filter((permission) => permission !== systemPermission);

/** These permissions may be restricted to target types (spec 001 §5). */
export function isTargetRelated(permission: string): boolean {
  return permission.endsWith("_TARGET") || permission === "READ_TARGET_SECURITY_TOKEN";
}

/** This says which other permissions a permission implies (contract management.md §3). */
const implied: Readonly<Record<string, readonly string[]>> = {
  TENANT_CONFIGURATION: ["READ_TENANT_CONFIGURATION", "READ_GATEWAY_SECURITY_TOKEN"],
};

/** Returns the permissions held and those that they imply, each once. */
export function withImplied(held: readonly string[]): string[] {
  return [...new Set(held.flatMap((permission) => [permission, ...(implied[permission] ?? [])]))];
}
