import { z } from "zod";
import { arrayUpTo, bodyId, lookedUpText, requiredText, withoutNulls } from "../values.ts";

/** A grant has at most so many target types, because more would make the signed identity of each of the user's requests too long for a header. */
export const maxTargetTypes = 100;

/** A list of permissions has at most so many entries; there are fewer permissions. */
const maxPermissions = 100;

/** A permission as it is granted (spec 001 §2.8): `null` means that it holds for all targets, `[]` for none. */
export const permissionView = z
  .object({ permission: z.string(), targetTypeScopes: z.array(z.int()).nullable() })
  .meta({ id: "Permission" });
export type PermissionView = z.output<typeof permissionView>;

/** The target types form a set, so equal ones count once. */
export const targetTypeIds = arrayUpTo(maxTargetTypes, bodyId).transform((ids) => [...new Set(ids)]);

/** A permission to grant; without scopes it is not restricted. */
const permissionGrant = z
  .object({ permission: requiredText(64), targetTypeScopes: targetTypeIds.optional() })
  .meta({ id: "PermissionGrant" });
export type PermissionGrant = z.output<typeof permissionGrant>;

/** The permissions to grant; a permission may occur only once, because two entries could contradict each other. */
export const permissionGrants = withoutNulls(
  arrayUpTo(maxPermissions, permissionGrant).refine(
    (grants) => new Set(grants.map((grant) => grant.permission)).size === grants.length,
    "must name each permission once",
  ),
);

/** The names of permissions form a set. */
export const permissionNames = arrayUpTo(maxPermissions, requiredText(64)).transform((names) => [...new Set(names)]);

/** A permission in a path. */
export const permissionName = lookedUpText;
