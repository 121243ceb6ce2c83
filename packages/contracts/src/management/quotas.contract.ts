import { z } from "zod";
import { links } from "../link.ts";
import { quotaKeys } from "../quotas.ts";
import { ok, routesOf } from "../route.ts";
import { lookedUpText, requiredWhole, withoutNulls } from "../values.ts";

/** A quota (spec 001 §2.8); it has audit members only if somebody has set the limit. */
export const quotaView = z
  .object({
    createdBy: z.string().optional(),
    createdAt: z.int().optional(),
    lastModifiedBy: z.string().optional(),
    lastModifiedAt: z.int().optional(),
    /** A limit of 0 or less stands for no limit. */
    limit: z.int(),
    /** The use of the tenant as a whole where that exists (targets, stored and sent bytes, API keys), else the highest use of any single owner. */
    used: z.int(),
    _links: links("self"),
  })
  .meta({ id: "Quota" });
export type QuotaView = z.output<typeof quotaView>;

const all = z.partialRecord(z.enum(quotaKeys), quotaView).meta({ id: "Quotas" });
const one = z.object({ key: lookedUpText });
const ofTenant = z.object({ tenantName: lookedUpText });
const oneOfTenant = z.object({ ...ofTenant.shape, ...one.shape });

/** A limit of 0 or less stands for no limit. */
const quotaLimit = withoutNulls(z.object({ limit: requiredWhole })).meta({ id: "QuotaLimit" });

/** Only users of the operator's own tenant have this permission (ADR 12). */
const system = ["SYSTEM_ADMIN"];

/** The quotas of the tenant (spec 001 §4.7, contract management.md §10.3). */
export const quotas = routesOf(
  "quotas",
  { service: "management", interface: "management", source: "spec 001 §4.7" },
  {
    list: {
      method: "GET",
      path: "/system/quotas",
      success: ok,
      response: all,
      permission: ["READ_TENANT_CONFIGURATION"],
      errors: [],
      summary: "List the quotas of the tenant",
    },
    get: {
      method: "GET",
      path: "/system/quotas/:key",
      params: one,
      success: ok,
      response: quotaView,
      permission: ["READ_TENANT_CONFIGURATION"],
      errors: ["entityNotFound"],
      summary: "Get a quota of the tenant",
    },
  },
);

/** The quotas of any tenant (contract extensions.md, "Quotas, set"), for the operator of the installation. */
export const tenantQuotas = routesOf(
  "tenantQuotas",
  { service: "management", interface: "management", source: "contract extensions.md" },
  {
    list: {
      method: "GET",
      path: "/system/tenants/:tenantName/quotas",
      params: ofTenant,
      success: ok,
      response: all,
      permission: system,
      errors: ["entityNotFound"],
      summary: "List the quotas of a tenant",
    },
    get: {
      method: "GET",
      path: "/system/tenants/:tenantName/quotas/:key",
      params: oneOfTenant,
      success: ok,
      response: quotaView,
      permission: system,
      errors: ["entityNotFound"],
      summary: "Get a quota of a tenant",
    },
    set: {
      method: "PUT",
      path: "/system/tenants/:tenantName/quotas/:key",
      params: oneOfTenant,
      body: quotaLimit,
      success: ok,
      response: quotaView,
      permission: system,
      errors: ["constraintViolation", "entityNotFound", "entityReadOnly", "entityChanged"],
      summary: "Set the limit of a quota of a tenant; 0 or less is none",
    },
  },
);
