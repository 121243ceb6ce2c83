import type { PermissionInfoView, RoleView } from "@harrier/contracts";
import { bodyOf, type Grants, grantsOf } from "./grants.state.ts";

/** What a user is often meant to do. */
export const presets = ["viewer", "operator", "administrator"] as const;
export type Preset = (typeof presets)[number];

const sees = ["READ_TARGET", "READ_REPOSITORY", "READ_ROLLOUT", "READ_TENANT_CONFIGURATION"];
const updates = [
  ...sees,
  ...["CREATE_TARGET", "UPDATE_TARGET"],
  ...["CREATE_REPOSITORY", "UPDATE_REPOSITORY", "DOWNLOAD_REPOSITORY_ARTIFACT"],
  ...["CREATE_ROLLOUT", "UPDATE_ROLLOUT", "HANDLE_ROLLOUT"],
];

/** The permissions of a preset, of those that there are and that the one who gives them holds: nobody can give away more. */
export function permissionsOf(
  preset: Preset,
  all: readonly Pick<PermissionInfoView, "name" | "area">[],
  held: readonly string[],
): readonly string[] {
  const wanted = { viewer: sees, operator: updates, administrator: undefined }[preset];
  return all
    .filter(({ name, area }) => (wanted === undefined ? area !== "installation" : wanted.includes(name)) && held.includes(name))
    .map(({ name }) => name);
}

/** What is granted at once with a new user, and, where a role restricts it to types of devices, all of it once more afterwards. */
export function grantsOfRole({ permissions = [] }: Pick<RoleView, "permissions">): {
  readonly names: readonly string[];
  readonly after?: ReturnType<typeof bodyOf>;
} {
  const grants: Grants = grantsOf(permissions);
  const names = Object.keys(grants).filter((name) => grants[name] === null);
  return names.length === permissions.length ? { names } : { names, after: bodyOf(grants) };
}
