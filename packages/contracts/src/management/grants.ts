import { z } from "zod";
import { arrayUpTo, bodyId, lookedUpText, requiredText, withoutNulls } from "../values.ts";

/** More target types than this would make the signed identity of every request of the user too long for a header. */
export const mostTargetTypes = 100;

/** Longest list of permissions; there are fewer of them. */
const mostPermissions = 100;

/** A permission as it is granted (spec 001 §2.8): `null` where it holds for all targets, `[]` where for none. */
export const permissionView = z
  .object({ permission: z.string(), targetTypeScopes: z.array(z.int()).nullable() })
  .meta({ id: "Permission" });
export type PermissionView = z.output<typeof permissionView>;

/** Target types as a set: which of several equal ones counts is no question. */
export const targetTypeIds = arrayUpTo(mostTargetTypes, bodyId).transform((ids) => [...new Set(ids)]);

/** A permission to grant; without scopes it is not restricted. */
const permissionGrant = z
  .object({ permission: requiredText(64), targetTypeScopes: targetTypeIds.optional() })
  .meta({ id: "PermissionGrant" });
export type PermissionGrant = z.output<typeof permissionGrant>;

/** Permissions to grant; one that stands twice could mean two things. */
export const permissionGrants = withoutNulls(
  arrayUpTo(mostPermissions, permissionGrant).refine(
    (grants) => new Set(grants.map((grant) => grant.permission)).size === grants.length,
    "must name each permission once",
  ),
);

/** Names of permissions as a set. */
export const permissionNames = arrayUpTo(mostPermissions, requiredText(64)).transform((names) => [...new Set(names)]);

/** A permission in a path. */
export const permissionName = lookedUpText;
