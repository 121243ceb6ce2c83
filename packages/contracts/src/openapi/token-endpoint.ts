import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { oauthPaths } from "../oauth.ts";

const tags = ["oauth2"];

const tokenForm = z
  .object({
    grant_type: z.literal("client_credentials"),
    /** The scopes are separated by blanks; without them the token gets all scopes of the client. */
    scope: z.string().optional(),
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
  })
  .meta({ id: "TokenRequest" });

const tokenView = z
  .object({ access_token: z.string(), token_type: z.literal("Bearer"), expires_in: z.int(), scope: z.string() })
  .meta({ id: "Token" });

/** The error body of RFC 6749 §5.2. */
const tokenError = z.object({ error: z.string(), error_description: z.string().optional() }).meta({ id: "TokenError" });

const metadata = z.record(z.string(), z.unknown()).meta({ id: "OAuthMetadata" });

const json = (schema: z.ZodType) => ({ content: { "application/json": { schema } } });

const token: ZodOpenApiOperationObject = {
  operationId: "oauth2.token",
  tags,
  summary: "Get an access token for an OAuth 2.0 client",
  description: "The client's id and secret by HTTP Basic or in the form (RFC 6749 §2.3.1, §4.4). Source: spec 000 §5.2.",
  security: [{ client: [] }, {}],
  requestBody: { required: true, content: { "application/x-www-form-urlencoded": { schema: tokenForm } } },
  responses: {
    "200": { description: "A JWT for both interfaces", ...json(tokenView) },
    "400": { description: "invalid_request, invalid_scope, invalid_target or unsupported_grant_type", ...json(tokenError) },
    "401": { description: "invalid_client", ...json(tokenError) },
    "429": { description: "Too many requests" },
  },
};

const page = (name: string, summary: string): ZodOpenApiOperationObject => ({
  operationId: `oauth2.${name}`,
  tags,
  summary,
  description: "Source: contract extensions.md.",
  security: [],
  responses: { "200": { description: "Success", ...json(metadata) }, "429": { description: "Too many requests" } },
});

/** The three pages of the service's own token endpoint. They are not in the route table, because their callers have not signed in. */
export const oauthDocumentation: ZodOpenApiPathsObject = {
  [oauthPaths.token]: { post: token },
  [oauthPaths.jwks]: { get: page("jwks", "Public keys of the access tokens (RFC 7517)") },
  [oauthPaths.discovery]: { get: page("discovery", "Where the token endpoint is, and what it can do (RFC 8414)") },
};
