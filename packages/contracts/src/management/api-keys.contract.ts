import { z } from "zod";
import { missingMessage } from "../parse.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { clampMoment, optionalDescription, pathId, requiredName, withoutNulls } from "../values.ts";

/** A device API key without its secret (spec 000 §4.3). */
export const apiKeyView = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().optional(),
    /** The expiry is in epoch milliseconds. */
    expiresAt: z.int(),
    /** The last day, in UTC, on which the key was used to sign in; absent until then. */
    lastUsedOn: z.iso.date().optional(),
  })
  .meta({ id: "DeviceApiKey" });
export type ApiKeyView = z.output<typeof apiKeyView>;

/** Only this answer contains the key itself. */
export const createdApiKeyView = apiKeyView.extend({ apiKey: z.string() }).meta({ id: "CreatedDeviceApiKey" });
export type CreatedApiKeyView = z.output<typeof createdApiKeyView>;

const isoMoment = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** A moment in epoch milliseconds or as ISO 8601 text, in which a date alone is its midnight, UTC (contract management.md §10.4). */
const moment = shownAs(
  z.unknown().transform((value, context): number => {
    if (typeof value === "number" && Number.isInteger(value)) return clampMoment(value);
    if (isoMoment.safeParse(value).success) return clampMoment(Date.parse(value as string));
    const missing = value === undefined || value === null;
    context.addIssue({
      code: "custom",
      message: missing ? missingMessage : "must be epoch milliseconds or ISO 8601",
      params: { unreadable: !missing },
    });
    return z.NEVER;
  }),
  {
    anyOf: [
      { type: "integer", format: "int64" },
      { type: "string", format: "date-time" },
    ],
  },
);

const createBody = withoutNulls(z.object({ name: requiredName(128), description: optionalDescription(), expiresAt: moment })).meta({
  id: "DeviceApiKeyCreate",
});

/** Other members are ignored, because `name` and `expiresAt` never change. */
const updateBody = z.object({ description: optionalDescription().nullable() }).meta({ id: "DeviceApiKeyUpdate" });

const one = z.object({ apiKeyId: pathId });
const apiKey = ["API_KEY"];

/** The API keys for the device interface (spec 000 §4.3). The lists are plain arrays, because a tenant has only a few. */
export const apiKeys = routesOf(
  "apiKeys",
  { service: "management", interface: "management", source: "spec 000 §4.3" },
  {
    list: {
      method: "GET",
      path: "/api-keys/dsi",
      success: ok,
      response: z.array(apiKeyView),
      permission: apiKey,
      errors: [],
      summary: "List the device API keys of the tenant",
    },
    create: {
      method: "POST",
      path: "/api-keys/dsi",
      body: createBody,
      success: created,
      response: createdApiKeyView,
      permission: apiKey,
      errors: ["constraintViolation", "quotaTooManyEntries"],
      summary: "Create a device API key; the key itself is in this answer only",
    },
    get: {
      method: "GET",
      path: "/api-keys/dsi/:apiKeyId",
      params: one,
      success: ok,
      response: apiKeyView,
      permission: apiKey,
      errors: ["entityNotFound"],
      summary: "Get a device API key",
    },
    update: {
      method: "PUT",
      path: "/api-keys/dsi/:apiKeyId",
      params: one,
      body: updateBody,
      success: ok,
      response: apiKeyView,
      permission: apiKey,
      errors: ["constraintViolation", "entityNotFound", "entityChanged"],
      summary: "Change the description of a device API key; null removes it",
    },
    delete: {
      method: "DELETE",
      path: "/api-keys/dsi/:apiKeyId",
      params: one,
      success: bodiless,
      permission: apiKey,
      errors: ["entityNotFound", "entityChanged"],
      summary: "Revoke and delete a device API key",
    },
  },
);
