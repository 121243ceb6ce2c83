import { z } from "zod";
import { audit, links } from "../link.ts";
import { pageOf, representedPageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { newUserName } from "../user-name.ts";
import { arrayBody, pathId } from "../values.ts";
import { listErrors } from "./common.ts";
import { permissionGrants, permissionName, permissionNames, permissionView } from "./grants.ts";

/** A user (spec 001 §2.8), never with a password or its hash. Compact lists leave the permissions out. */
export const userView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    type: z.enum(["PASSWORD_USER", "EXTERNAL_USER"]),
    systemManaged: z.boolean(),
    permissions: z.array(z.string()).optional(),
    _links: links("self", "permissions"),
  })
  .meta({ id: "User" });
export type UserView = z.output<typeof userView>;

/**
 * A new password; existing ones stay valid. Short passwords can be guessed, and longer ones than the maximum only cost time. Blanks are kept, but
 * control characters are refused, because no sign-in accepts them.
 */
export const password = z
  .string()
  .min(12)
  .max(256)
  .refine((text) => !/\p{Cc}/u.test(text), "must not contain control characters");

/** What a new user signs in with: a password, or its hash as another installation keeps it. */
export const newSignIn = { password: password.optional(), passwordHash: z.string().max(512).optional() };

type NewSignIn = { password?: string | undefined; passwordHash?: string | undefined };
export const notBoth = (user: NewSignIn): boolean => user.password === undefined || user.passwordHash === undefined;
export const notBothText = "must have a password or its hash, not both";

/** The creation of a user (contract management.md §10.1); a user without a password comes from the identity provider. */
export const userCreate = z
  .object({ name: newUserName, ...newSignIn, permissions: permissionNames.default([]) })
  .refine(notBoth, notBothText)
  .meta({ id: "UserCreate" });
export type UserCreate = z.output<typeof userCreate>;

const newPassword = z.object({ newPassword: password }).meta({ id: "PasswordChange" });

const one = z.object({ userId: pathId });
const path = "/users/:userId";
const permissions = `${path}/permissions`;

/** The operations on users (spec 001 §4.7). */
export const users = routesOf(
  "users",
  { service: "management", interface: "management" },
  {
    list: {
      method: "GET",
      path: "/users",
      query: representedPageQuery,
      success: ok,
      response: pageOf(userView),
      permission: ["USER_MANAGEMENT"],
      errors: listErrors,
      summary: "List users",
      source: "spec 001 §4.7",
    },
    create: {
      method: "POST",
      path: "/users",
      body: arrayBody(userCreate),
      success: created,
      response: z.array(userView),
      permission: ["USER_MANAGEMENT"],
      errors: ["constraintViolation", "entityAlreadyExists"],
      summary: "Create users, all or none",
      source: "spec 001 §4.7",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: userView,
      permission: ["USER_MANAGEMENT"],
      errors: ["entityNotFound"],
      summary: "Get a user",
      source: "spec 001 §4.7",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["USER_MANAGEMENT"],
      errors: ["entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Delete a user, whose next request is refused",
      source: "spec 001 §4.7",
    },
    listPermissions: {
      method: "GET",
      path: permissions,
      params: one,
      success: ok,
      response: z.array(permissionView),
      permission: ["USER_MANAGEMENT"],
      errors: ["entityNotFound"],
      summary: "List the permissions of a user",
      source: "contract management.md §10.1",
    },
    setPermissions: {
      method: "PUT",
      path: permissions,
      params: one,
      body: permissionGrants,
      success: ok,
      response: z.array(permissionView),
      permission: ["USER_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Replace the permissions of a user",
      source: "spec 001 §4.7",
    },
    addPermissions: {
      method: "POST",
      path: permissions,
      params: one,
      body: permissionNames,
      success: ok,
      response: z.array(z.string()),
      permission: ["USER_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly"],
      summary: "Grant permissions to a user, not restricted to target types",
      source: "spec 001 §4.7",
    },
    removePermission: {
      method: "DELETE",
      path: `${permissions}/:permission`,
      params: one.extend({ permission: permissionName }),
      success: ok,
      response: z.array(z.string()),
      permission: ["USER_MANAGEMENT"],
      errors: ["entityNotFound", "entityReadOnly"],
      summary: "Remove a permission from a user; answers those that are left",
      source: "spec 001 §4.7",
    },
    changePassword: {
      method: "PUT",
      path: `${path}/password`,
      params: one,
      body: newPassword,
      success: bodiless,
      // users may change their own password without any permission, which only the owner of the row can decide
      permission: [],
      errors: [
        "insufficientPermission",
        "constraintViolation",
        "entityNotFound",
        "entityReadOnly",
        "concurrentModification",
        "entityChanged",
      ],
      summary: "Change the password of a user: one's own, or with USER_MANAGEMENT anybody's",
      source: "spec 001 §4.7",
    },
  },
);
