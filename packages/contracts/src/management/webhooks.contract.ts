import { z } from "zod";
import { audit, links } from "../link.ts";
import { queryInt } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { arrayBody, flag, optionalDescription, optionalName, pathId, requiredName, requiredText, withoutNulls } from "../values.ts";
import { eventTypeList } from "./events.contract.ts";

/** A tenant has at most so many webhooks. */
export const maxWebhooks = 20;
/** The delivery log answers at most so many attempts. */
const maxDeliveries = 500;

/** A receiver of events (contract extensions.md, Webhooks). Its secret is shown when it is created alone. */
export const webhookView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    description: z.string().optional(),
    url: z.string(),
    /** Events of these types are sent; absent, all are. */
    types: z.array(z.string()).optional(),
    enabled: z.boolean(),
    /** Why deliveries have ended; absent while they go on, and where a person has ended them. */
    disabledReason: z.string().optional(),
    /** When the deliveries that fail now began to fail, epoch ms. */
    failingSince: z.int().optional(),
    lastError: z.string().optional(),
    /** When an event was last accepted, epoch ms. */
    lastDeliveredAt: z.int().optional(),
    _links: links("self"),
  })
  .meta({ id: "Webhook" });
export type WebhookView = z.output<typeof webhookView>;

/** Only this answer contains the secret. */
export const createdWebhookView = webhookView.extend({ secret: z.string() }).meta({ id: "CreatedWebhook" });
export type CreatedWebhookView = z.output<typeof createdWebhookView>;

/** The secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export const webhookSecret = z.string().refine((text) => {
  const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, "base64");
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString("base64").replace(/=+$/, "") === base64.replace(/=+$/, "");
}, "must be whsec_ and 24 to 64 bytes in base64");

const url = requiredText(2_000);

const createBody = z
  .object({
    name: requiredName(64),
    description: optionalDescription(),
    url,
    types: eventTypeList.optional(),
    enabled: flag().optional(),
    secret: webhookSecret.optional(),
  })
  .meta({ id: "WebhookCreate" });
export type WebhookCreate = z.output<typeof createBody>;

const updateBody = withoutNulls(
  z.object({
    name: optionalName(64),
    description: optionalDescription(),
    url: url.optional(),
    types: eventTypeList.optional(),
    enabled: flag().optional(),
    secret: webhookSecret.optional(),
  }),
).meta({ id: "WebhookUpdate" });
export type WebhookUpdate = z.output<typeof updateBody>;

/** One attempt to deliver an event. */
export const webhookDeliveryView = z
  .object({
    eventId: z.string(),
    type: z.string(),
    subject: z.string(),
    /** Epoch ms. */
    at: z.int(),
    attempt: z.int(),
    delivered: z.boolean(),
    /** The HTTP status of the answer; absent where there was none. */
    status: z.int().optional(),
    /** How long the answer took. */
    ms: z.int(),
    error: z.string().optional(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDeliveryView = z.output<typeof webhookDeliveryView>;

const one = z.object({ webhookId: pathId });
// whoever sets up a webhook reads what it is sent
const permission = ["TENANT_CONFIGURATION", "READ_TARGET", "READ_ROLLOUT"];
const source = "contract extensions.md";
const common = { service: "management", interface: "management", permission, source } as const;

/** Webhooks: events that are sent to an address of the tenant, signed by Standard Webhooks (contract extensions.md). */
export const webhooks = routesOf("webhooks", common, {
  list: {
    method: "GET",
    path: "/webhooks",
    success: ok,
    response: z.array(webhookView),
    errors: ["insufficientPermission"],
    summary: "List the webhooks of the tenant",
  },
  create: {
    method: "POST",
    path: "/webhooks",
    body: arrayBody(createBody),
    success: created,
    response: z.array(createdWebhookView),
    confidential: true,
    errors: ["constraintViolation", "entityAlreadyExists", "insufficientPermission", "quotaTooManyEntries"],
    summary: "Create webhooks, all or none; events are sent from now on, and secrets are in this answer only",
  },
  get: {
    method: "GET",
    path: "/webhooks/:webhookId",
    params: one,
    success: ok,
    response: webhookView,
    errors: ["entityNotFound", "insufficientPermission"],
    summary: "Get a webhook",
  },
  update: {
    method: "PUT",
    path: "/webhooks/:webhookId",
    params: one,
    body: updateBody,
    success: ok,
    response: webhookView,
    errors: ["constraintViolation", "entityAlreadyExists", "entityNotFound", "insufficientPermission", "entityChanged"],
    summary: "Change a webhook; absent members stay as they are",
  },
  delete: {
    method: "DELETE",
    path: "/webhooks/:webhookId",
    params: one,
    success: bodiless,
    errors: ["entityNotFound", "insufficientPermission", "entityChanged"],
    summary: "Delete a webhook with its log",
  },
  test: {
    method: "POST",
    path: "/webhooks/:webhookId/test",
    params: one,
    success: ok,
    response: webhookDeliveryView,
    errors: ["entityNotFound", "insufficientPermission", "tooManyRequests"],
    summary: "Send a test event to a webhook now, and tell what came of it",
  },
  replay: {
    method: "POST",
    path: "/webhooks/:webhookId/replay",
    params: one,
    body: z.object({ after: requiredText(12_000) }).meta({ id: "WebhookReplay" }),
    success: ok,
    response: webhookView,
    errors: ["constraintViolation", "entityNotFound", "eventCursorExpired", "insufficientPermission"],
    summary: "Send the events behind a cursor again",
  },
  deliveries: {
    method: "GET",
    path: "/webhooks/:webhookId/deliveries",
    params: one,
    query: z.object({ limit: queryInt(50, (value) => (value < 1 ? 50 : Math.min(maxDeliveries, value))) }),
    success: ok,
    response: z.array(webhookDeliveryView),
    errors: ["entityNotFound", "insufficientPermission"],
    summary: "List the newest attempts to deliver events, the last first",
  },
});
