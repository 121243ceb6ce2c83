import { z } from "zod";
import { audit, links } from "../link.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { created, ok, routesOf } from "../route.ts";
import { newUserName } from "../user-name.ts";
import { arrayBody, lookedUpText, optionalDescription, requiredText, withoutNulls } from "../values.ts";
import { listErrors } from "./common.ts";
import { operationView } from "./operations.contract.ts";
import { newSignIn, notBoth, notBothText } from "./users.contract.ts";

/** The first administrator of a new tenant. Only this answer has the password, and only if the server generated it. */
const firstAdministrator = z.object({ name: z.string(), password: z.string().optional() }).meta({ id: "FirstAdministrator" });

/** A tenant as its operator sees it (contract extensions.md). */
export const tenantView = z
  .object({
    ...audit,
    name: z.string(),
    description: z.string().optional(),
    status: z.enum(["active", "suspended", "deleting"]),
    _links: links("self"),
  })
  .meta({ id: "Tenant" });
export type TenantView = z.output<typeof tenantView>;

export const createdTenantView = tenantView.extend({ administrator: firstAdministrator.optional() }).meta({ id: "CreatedTenant" });
export type CreatedTenantView = z.output<typeof createdTenantView>;

/** These first segments of paths belong to the gateway, or to operators in front of it, so no tenant may have such a name. */
const reservedNames = new Set(["api", "rest", "oauth2", "system", "livez", "readyz", "metrics"]);

/**
 * The name of a tenant is a segment of every path of its devices, and part of its users' names and of the keys of its events, compared without case
 * (contract device.md §9.4). Only letters, digits, `.`, `_` and `-` are the same everywhere.
 */
const tenantName = requiredText(128)
  .refine(
    (name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name),
    "must be letters, digits, '.', '_' and '-', and begin with a letter or a digit",
  )
  .refine((name) => !reservedNames.has(name.toLowerCase()), "is reserved");

/** An `administrator` without a password or its hash gets a generated password (ADR 55). */
export const tenantCreate = z
  .object({
    name: tenantName,
    description: optionalDescription(),
    administrator: z
      .object({ name: newUserName, ...newSignIn })
      .refine(notBoth, notBothText)
      .optional(),
  })
  .meta({ id: "TenantCreate" });
export type TenantCreate = z.output<typeof tenantCreate>;

/** Other members are ignored: a name never changes, because the configuration of every device contains it. */
const tenantUpdate = withoutNulls(z.object({ description: optionalDescription() })).meta({ id: "TenantUpdate" });

const one = z.object({ tenantName: lookedUpText });
const path = "/system/tenants/:tenantName";
/** Only users of the operator's own tenant have this permission (ADR 12). */
const system = ["SYSTEM_ADMIN"];
const source = "contract extensions.md";

/** The tenants of the installation (contract extensions.md), for its operator. */
export const tenants = routesOf(
  "tenants",
  { service: "management", interface: "management" },
  {
    list: {
      method: "GET",
      path: "/system/tenants",
      query: pageQuery,
      success: ok,
      response: pageOf(tenantView),
      permission: system,
      errors: listErrors,
      summary: "List the tenants",
      source,
    },
    create: {
      method: "POST",
      path: "/system/tenants",
      body: arrayBody(tenantCreate),
      success: created,
      response: z.array(createdTenantView),
      permission: system,
      errors: ["constraintViolation", "entityAlreadyExists", "quotaTooManyEntries"],
      summary: "Create tenants with their types and, where asked for, their first administrators, all or none",
      source,
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: tenantView,
      permission: system,
      errors: ["entityNotFound"],
      summary: "Get a tenant",
      source,
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: tenantUpdate,
      success: ok,
      response: tenantView,
      permission: system,
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Change the description of a tenant",
      source,
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: { spec: 202, rest: 202 },
      response: operationView,
      permission: system,
      errors: ["entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Delete a tenant and everything in it; answers the operation that does it",
      source,
    },
    suspend: {
      method: "POST",
      path: `${path}/suspend`,
      params: one,
      success: ok,
      response: tenantView,
      permission: system,
      errors: ["entityNotFound", "entityReadOnly"],
      summary: "Suspend a tenant: nobody signs in to it, and its data stay",
      source,
    },
    resume: {
      method: "POST",
      path: `${path}/resume`,
      params: one,
      success: ok,
      response: tenantView,
      permission: system,
      errors: ["entityNotFound", "entityReadOnly"],
      summary: "Let everybody of a suspended tenant in again",
      source,
    },
  },
);
