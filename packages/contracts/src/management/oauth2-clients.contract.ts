import { z } from "zod";
import { audit, links } from "../link.ts";
import { isScope, maxScopesLength } from "../oauth.ts";
import { pageOf, pageQuery } from "../paging.ts";
import { missingMessage } from "../parse.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { arrayBody, lookedUpText, optionalDescription, optionalName, requiredName, upTo, withoutNulls } from "../values.ts";
import { listErrors } from "./common.ts";

/** An OAuth 2.0 client without its secret (spec 000 §5.2). */
export const oauth2ClientView = z
  .object({
    ...audit,
    clientId: z.string(),
    name: z.string(),
    description: z.string().optional(),
    /** The client's tokens may have these scopes. */
    scopes: z.array(z.string()),
    /** The lifetime is in seconds. */
    accessTokenTtl: z.int(),
    /** The last day, in UTC, on which the client got a token; absent until then. */
    lastUsedOn: z.iso.date().optional(),
    /** The expiry in epoch milliseconds; it is present while there are two secrets. */
    previousSecretExpiresAt: z.int().optional(),
    _links: links("self"),
  })
  .meta({ id: "OAuth2Client" });
export type OAuth2ClientView = z.output<typeof oauth2ClientView>;

/** Only these answers contain a secret. */
export const oauth2ClientWithSecret = oauth2ClientView.extend({ clientSecret: z.string() }).meta({ id: "OAuth2ClientWithSecret" });
export type OAuth2ClientWithSecret = z.output<typeof oauth2ClientWithSecret>;

/** Makes a whole number of seconds between two bounds. */
const seconds = (minimum: number, maximum: number) =>
  shownAs(
    z
      .number()
      .refine(Number.isInteger, { error: "must be a whole number", params: { unreadable: true } })
      .min(minimum)
      .max(maximum),
    { type: "integer", format: "int32", minimum, maximum },
  );

/** The lifetime is long enough to be worth a request, and short enough that a token is no password. */
const accessTokenTtl = seconds(60, 86_400);

const maxScopes = 50;

/** The scopes form a set, which must not be empty: such a client could do nothing. */
const scopes = upTo(
  maxScopes,
  z
    .array(z.string().trim().refine(isScope, "must be a scope"), {
      error: ({ input }) => (input === undefined || input === null ? missingMessage : undefined),
    })
    .min(1)
    .max(maxScopes),
)
  .transform((all) => [...new Set(all)])
  .refine((all) => all.join(" ").length <= maxScopesLength, `must not be longer than ${maxScopesLength} characters together`);

/** The creation of a client (contract extensions.md). */
export const oauth2ClientCreate = z
  .object({ name: requiredName(128), description: optionalDescription(), scopes, accessTokenTtl: accessTokenTtl.default(3_600) })
  .meta({ id: "OAuth2ClientCreate" });
export type OAuth2ClientCreate = z.output<typeof oauth2ClientCreate>;

/** The change of a client; absent or null members stay as they are. */
export const oauth2ClientUpdate = z
  .object({
    name: optionalName(128),
    description: optionalDescription(),
    scopes: scopes.optional(),
    accessTokenTtl: accessTokenTtl.optional(),
  })
  .meta({ id: "OAuth2ClientUpdate" });
export type OAuth2ClientUpdate = z.output<typeof oauth2ClientUpdate>;

/** Two secrets are valid side by side for at most this long: a week. */
const maxOverlapSeconds = 7 * 24 * 60 * 60;

/** An absent body counts as one without members. */
const rotation = withoutNulls(
  z
    .object({
      /** The previous secret stays valid for so many seconds; 0 also ends the tokens that the client has. */
      previousSecretTtl: seconds(0, maxOverlapSeconds).default(24 * 60 * 60),
    })
    .prefault({}),
).meta({ id: "OAuth2SecretRotation" });

const one = z.object({ clientId: lookedUpText });
const path = "/oauth2-clients/:clientId";
const userManagement = ["USER_MANAGEMENT"];

/** The clients of the service's own token endpoint (spec 000 §5.2), with the paths of contract extensions.md. */
export const oauth2Clients = routesOf(
  "oauth2Clients",
  { service: "management", interface: "management", source: "spec 000 §5.2" },
  {
    list: {
      method: "GET",
      path: "/oauth2-clients",
      query: pageQuery,
      success: ok,
      response: pageOf(oauth2ClientView),
      permission: userManagement,
      errors: listErrors,
      summary: "List OAuth 2.0 clients",
    },
    create: {
      method: "POST",
      path: "/oauth2-clients",
      body: arrayBody(oauth2ClientCreate),
      success: created,
      response: z.array(oauth2ClientWithSecret),
      permission: userManagement,
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "quotaTooManyEntries"],
      summary: "Create OAuth 2.0 clients, all or none; their secrets are in this answer only",
    },
    get: {
      method: "GET",
      path,
      params: one,
      success: ok,
      response: oauth2ClientView,
      permission: userManagement,
      errors: ["entityNotFound"],
      summary: "Get an OAuth 2.0 client",
    },
    update: {
      method: "PUT",
      path,
      params: one,
      body: withoutNulls(oauth2ClientUpdate),
      success: ok,
      response: oauth2ClientView,
      permission: userManagement,
      errors: ["constraintViolation", "entityNotFound", "entityAlreadyExists", "concurrentModification", "entityChanged"],
      summary: "Change an OAuth 2.0 client; fewer scopes are in force for its tokens at once",
    },
    delete: {
      method: "DELETE",
      path,
      params: one,
      success: bodiless,
      permission: userManagement,
      errors: ["entityNotFound", "entityChanged"],
      summary: "Delete an OAuth 2.0 client; its tokens are refused from then on",
    },
    rotateSecret: {
      method: "POST",
      path: `${path}/secret`,
      params: one,
      body: rotation,
      bodyKind: "optional-json",
      success: ok,
      response: oauth2ClientWithSecret,
      permission: userManagement,
      errors: ["constraintViolation", "entityNotFound"],
      summary: "Give an OAuth 2.0 client a new secret, shown in this answer only; the one before stays good for a while",
    },
  },
);
