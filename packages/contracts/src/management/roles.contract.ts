import { z } from "zod";
import { audit, links } from "../link.ts";
import { pageOf, representationOr, representedPageQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, pathId, requiredName } from "../values.ts";
import { listErrors } from "./common.ts";
import { permissionGrants, permissionName, permissionNames, permissionView, targetTypeIds } from "./grants.ts";

/** A role (spec 001 §2.8); compact lists leave the permissions out. */
export const roleView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    permissions: z.array(permissionView).optional(),
    _links: links("self", "permissions"),
  })
  .meta({ id: "Role" });
export type RoleView = z.output<typeof roleView>;

/** The creation of a role (contract management.md §10.2); `id` and `_links` of a body are ignored. The name of a role may be the scope of a token. */
export const roleCreate = z.object({ name: requiredName(128), permissions: permissionGrants.default([]) }).meta({ id: "RoleCreate" });
export type RoleCreate = z.output<typeof roleCreate>;

/** Full objects are the default here: any value but `compact` means `full` (contract management.md §10.2). */
const representation = representationOr("full");

const one = z.object({ roleId: pathId });
const onePermission = one.extend({ permission: permissionName });
const path = "/roles/:roleId";
const permissions = `${path}/permissions`;
const scopes = `${permissions}/:permission/scopes`;

/** The operations on roles (spec 001 §4.7). */
export const roles = routesOf(
  "roles",
  { service: "management", interface: "management", source: "spec 001 §4.7" },
  {
    list: {
      method: "GET",
      path: "/roles",
      query: representedPageQuery,
      success: ok,
      response: pageOf(roleView),
      permission: ["ROLE_MANAGEMENT"],
      errors: listErrors,
      summary: "List roles",
    },
    create: {
      method: "POST",
      path: "/roles",
      body: arrayBody(roleCreate),
      success: created,
      response: z.array(roleView),
      permission: ["ROLE_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists"],
      summary: "Create roles, all or none",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: roleView,
      permission: ["ROLE_MANAGEMENT"],
      errors: ["entityNotFound"],
      summary: "Get a role",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: ["ROLE_MANAGEMENT"],
      errors: ["entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Delete a role",
    },
    listPermissions: {
      method: "GET",
      path: permissions,
      params: one,
      query: z.object({ representation }),
      success: ok,
      response: z.union([z.array(permissionView), z.array(z.string())]),
      permission: ["ROLE_MANAGEMENT"],
      errors: ["entityNotFound"],
      summary: "List the permissions of a role",
    },
    setPermissions: {
      method: "PUT",
      path: permissions,
      params: one,
      body: permissionGrants,
      success: ok,
      response: z.array(permissionView),
      permission: ["ROLE_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Replace the permissions of a role",
    },
    addPermissions: {
      method: "POST",
      path: permissions,
      params: one,
      body: permissionNames,
      success: ok,
      response: z.array(permissionView),
      permission: ["ROLE_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly"],
      summary: "Grant permissions to a role; those it held restricted are so no more",
    },
    removePermission: {
      method: "DELETE",
      path: `${permissions}/:permission`,
      params: onePermission,
      success: ok,
      response: z.array(permissionView),
      permission: ["ROLE_MANAGEMENT"],
      errors: ["entityNotFound", "entityReadOnly"],
      summary: "Remove a permission from a role; answers those that are left",
    },
    replaceScopes: {
      method: "PUT",
      path: scopes,
      params: onePermission,
      body: targetTypeIds,
      success: ok,
      response: permissionView,
      permission: ["ROLE_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Restrict a permission to these target types",
    },
    addScopes: {
      method: "POST",
      path: scopes,
      params: onePermission,
      body: targetTypeIds,
      success: ok,
      response: permissionView,
      permission: ["ROLE_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly"],
      summary: "Restrict a permission to these target types and those it is restricted to",
    },
    removeScopes: {
      method: "DELETE",
      path: scopes,
      params: onePermission,
      body: targetTypeIds.optional(),
      bodyKind: "optional-json",
      success: ok,
      otherSuccess: { 204: "No longer restricted, where the request has no body (`/rest/v1`; empty 200 on `/api/mgmt/v1`)" },
      response: permissionView.optional(),
      permission: ["ROLE_MANAGEMENT"],
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly"],
      summary: "Take target types away from a permission; the last one leaves it good for none, no body lifts the restriction",
    },
  },
);
