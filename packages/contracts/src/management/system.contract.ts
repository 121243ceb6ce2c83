import { z } from "zod";
import { links } from "../link.ts";
import { ok, routesOf } from "../route.ts";
import { settingFormats } from "../setting-descriptions.ts";
import { shownAs } from "../shown-as.ts";
import { isStorable, lookedUpText, recordUpTo } from "../values.ts";

/** It is several times the number of settings that exist. */
const maxConfigs = 200;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const configMembers = {
  value: scalar,
  global: z.boolean(),
  createdBy: z.string().optional(),
  createdAt: z.int().optional(),
  lastModifiedBy: z.string().optional(),
  lastModifiedAt: z.int().optional(),
};

/** A setting in an answer (spec 001 §2.8): `global` while the default applies, and then without audit members. */
export const configView = z.object({ ...configMembers, _links: links("self").optional() }).meta({ id: "TenantConfiguration" });
export type ConfigView = z.output<typeof configView>;

/** In hawkBit's map of all settings the links are an array, because its clients expect that (contract clients.md, quirk 19). */
export const configEntryView = z
  .object({ ...configMembers, links: z.array(z.object({ rel: z.string(), href: z.string() })) })
  .meta({ id: "TenantConfigurationEntry" });
export type ConfigEntryView = z.output<typeof configEntryView>;

/** Any value but null is accepted here; the settings table decides whether it fits its key (contract management.md §8.2). */
export const configValue = shownAs(
  z.unknown().superRefine((value, context) => {
    if (value === undefined || value === null)
      context.addIssue({ code: "custom", message: "must not be null", params: { unreadable: true } });
    if (typeof value === "string" && !isStorable(value)) context.addIssue({ code: "custom", message: "Invalid characters in string" });
    if (typeof value === "string" && value.length > 512) context.addIssue({ code: "custom", message: "must have at most 512 characters" });
  }),
  { anyOf: [{ type: "string", maxLength: 512 }, { type: "number" }, { type: "boolean" }] },
);

/** What a setting is and which values it may have (contract console.md §3). */
export const configSchemaView = z
  .object({
    key: z.string(),
    type: z.enum(["boolean", "integer", "string"]),
    default: scalar.optional(),
    text: z.string(),
    format: z.enum(settingFormats).optional(),
    minimum: z.union([z.int(), z.string()]).optional(),
    maximum: z.union([z.int(), z.string()]).optional(),
    maxLength: z.int().optional(),
    words: z.array(z.string()).optional(),
    fixed: z.string().optional(),
    oneWay: z.boolean(),
    signIn: z.boolean(),
    readPermission: z.string().optional(),
  })
  .meta({ id: "TenantConfigurationSchema" });
export type ConfigSchemaView = z.output<typeof configSchemaView>;

const configBody = z.object({ value: configValue }).meta({ id: "TenantConfigurationUpdate" });
const one = z.object({ key: lookedUpText });
// hawkBit 1.x answers no body here, but the specification does (contract management.md §11)
const changed = { spec: 200, rest: 204 } as const;

/** The tenant configuration (spec 001 §4.7). */
export const configs = routesOf(
  "configs",
  { service: "management", interface: "management" },
  {
    list: {
      confidential: true,
      method: "GET",
      path: "/system/configs",
      success: ok,
      response: z.record(z.string(), configView).meta({ id: "TenantConfigurations" }),
      responseRest: z.record(z.string(), configEntryView).meta({ id: "TenantConfigurationEntries" }),
      permission: ["READ_TENANT_CONFIGURATION"],
      errors: [],
      summary: "List the tenant's settings",
      source: "spec 001 §4.7",
    },
    // It stands before the settings by key, which its path would match.
    schema: {
      method: "GET",
      path: "/system/configs/schema",
      success: ok,
      response: z.array(configSchemaView),
      permission: ["READ_TENANT_CONFIGURATION"],
      errors: [],
      summary: "List what settings there are and which values they may have",
      source: "contract console.md §3",
    },
    get: {
      confidential: true,
      method: "GET",
      path: "/system/configs/:key",
      params: one,
      success: ok,
      response: configView,
      permission: ["READ_TENANT_CONFIGURATION"],
      errors: ["configKeyInvalid"],
      summary: "Get a setting of the tenant",
      source: "spec 001 §4.7",
    },
    put: {
      confidential: true,
      method: "PUT",
      path: "/system/configs/:key",
      params: one,
      body: configBody,
      success: changed,
      response: configView,
      permission: ["TENANT_CONFIGURATION"],
      errors: [
        "configKeyInvalid",
        "configValueInvalid",
        "configChangeNotAllowed",
        "constraintViolation",
        "entityNotFound",
        "entityChanged",
      ],
      summary: "Change a setting of the tenant",
      source: "spec 001 §4.7",
    },
    putMany: {
      confidential: true,
      method: "PUT",
      path: "/system/configs",
      body: recordUpTo(maxConfigs, configValue).meta({ id: "TenantConfigurationsUpdate" }),
      success: changed,
      response: z.array(configView),
      permission: ["TENANT_CONFIGURATION"],
      errors: [
        "configKeyInvalid",
        "configValueInvalid",
        "configChangeNotAllowed",
        "constraintViolation",
        "entityNotFound",
        "entityChanged",
      ],
      summary: "Change several settings of the tenant, all or none",
      source: "spec 001 §4.7",
    },
    delete: {
      method: "DELETE",
      path: "/system/configs/:key",
      params: one,
      success: changed,
      permission: ["TENANT_CONFIGURATION"],
      errors: ["configKeyInvalid", "configChangeNotAllowed", "constraintViolation", "entityNotFound"],
      summary: "Reset a setting to its default",
      source: "spec 001 §4.7",
    },
  },
);

/** Who is signed in (contract management.md §4.11, console.md §3). */
export const userinfoView = z
  .object({
    tenant: z.string(),
    username: z.string(),
    permissions: z.array(z.string()).optional(),
    id: z.int().optional(),
    kind: z.enum(["user", "client"]),
    issuer: z.string().optional(),
    targetTypeScopes: z.record(z.string(), z.array(z.int())),
  })
  .meta({ id: "UserInfo" });
export type UserinfoView = z.output<typeof userinfoView>;

export const userinfo = routesOf(
  "userinfo",
  { service: "management", interface: "management", source: "contract management.md §4.11" },
  {
    get: {
      method: "GET",
      path: "/userinfo",
      success: ok,
      response: userinfoView,
      permission: [],
      errors: [],
      summary: "Tell who is signed in",
    },
  },
);
