/** A permission of the management interface, with what a screen of roles says about it. */
export interface PermissionRow {
  /** What it concerns. */
  readonly area: "targets" | "software" | "rollouts" | "tenant" | "installation";
  /** What whoever holds it may do, as a sentence without its subject. */
  readonly text: string;
  /** It may be restricted to target types (spec 001 §5). */
  readonly targetRelated?: true;
  /** These permissions come with it (contract management.md §3). */
  readonly implies?: readonly string[];
}

/** All permissions of the interface (spec 001 §5; contract management.md §3), in the order in which answers list them. */
export const permissionTable = {
  READ_TARGET: {
    area: "targets",
    targetRelated: true,
    text: "See targets, their attributes, metadata, tags and actions, target types and target filters",
  },
  CREATE_TARGET: { area: "targets", targetRelated: true, text: "Create targets and target types" },
  UPDATE_TARGET: {
    area: "targets",
    targetRelated: true,
    text: "Change targets, assign distribution sets to them, and cancel, force or confirm their actions",
  },
  DELETE_TARGET: { area: "targets", targetRelated: true, text: "Delete targets and target types" },
  READ_REPOSITORY: { area: "software", text: "See software modules, artifacts, distribution sets, their types and their tags" },
  CREATE_REPOSITORY: { area: "software", text: "Create software modules, distribution sets and their types, and upload artifacts" },
  UPDATE_REPOSITORY: { area: "software", text: "Change software modules, distribution sets, their types and their tags" },
  DELETE_REPOSITORY: { area: "software", text: "Delete software modules, artifacts, distribution sets and their types" },
  READ_ROLLOUT: { area: "rollouts", text: "See rollouts, their groups and their progress" },
  CREATE_ROLLOUT: { area: "rollouts", text: "Create rollouts" },
  UPDATE_ROLLOUT: { area: "rollouts", text: "Change rollouts" },
  DELETE_ROLLOUT: { area: "rollouts", text: "Delete rollouts" },
  HANDLE_ROLLOUT: { area: "rollouts", text: "Start, pause, resume and stop rollouts, and start their next group" },
  APPROVE_ROLLOUT: { area: "rollouts", text: "Approve or deny rollouts and auto-assignments" },
  DOWNLOAD_REPOSITORY_ARTIFACT: { area: "software", text: "Download artifacts" },
  READ_TARGET_SECURITY_TOKEN: { area: "targets", targetRelated: true, text: "See the security tokens by which targets sign in" },
  READ_GATEWAY_SECURITY_TOKEN: { area: "tenant", text: "See the token by which gateways sign in for any target" },
  READ_TENANT_CONFIGURATION: { area: "tenant", text: "See the settings and quotas of the tenant" },
  TENANT_CONFIGURATION: {
    area: "tenant",
    text: "Change the settings of the tenant",
    implies: ["READ_TENANT_CONFIGURATION", "READ_GATEWAY_SECURITY_TOKEN"],
  },
  USER_MANAGEMENT: { area: "tenant", text: "Manage users and what they hold, and read the audit trail" },
  ROLE_MANAGEMENT: { area: "tenant", text: "Manage roles" },
  API_KEY: { area: "tenant", text: "Manage device API keys and OAuth 2.0 clients" },
  SYSTEM_ADMIN: { area: "installation", text: "Manage tenants, their quotas and the installation; only users of the operator hold it" },
} as const satisfies Readonly<Record<string, PermissionRow>>;

export type PermissionKey = keyof typeof permissionTable;
