const crud = (subject: string): string[] => ["READ", "CREATE", "UPDATE", "DELETE"].map((verb) => `${verb}_${subject}`);

/** Every permission of the interface (spec 001 §5; contract management.md §3). */
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

/** What concerns all tenants: for the operator's own users, and given on by nobody else. */
export const systemPermission = "SYSTEM_ADMIN";

/** Everything that can be done within a tenant: the predefined role SYSTEM_ADMIN (spec 000 §4.3; contract extensions.md). */
export const tenantPermissions: readonly string[] = allPermissions.filter((permission) => permission !== systemPermission);

/** Permissions that may be restricted to target types (spec 001 §5). */
export function isTargetRelated(permission: string): boolean {
  return permission.endsWith("_TARGET") || permission === "READ_TARGET_SECURITY_TOKEN";
}

/** What a permission brings with it (contract management.md §3). */
const implied: Readonly<Record<string, readonly string[]>> = {
  TENANT_CONFIGURATION: ["READ_TENANT_CONFIGURATION", "READ_GATEWAY_SECURITY_TOKEN"],
};

/** The permissions held, with those they imply, each once. */
export function withImplied(held: readonly string[]): string[] {
  return [...new Set(held.flatMap((permission) => [permission, ...(implied[permission] ?? [])]))];
}
