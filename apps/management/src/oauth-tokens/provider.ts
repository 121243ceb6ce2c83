import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { deviceScope, managementScope, oauthPaths } from "@harrier/contracts";
import { digest } from "@harrier/db";
import Provider, { type AdapterPayload, type Client, type Configuration, errors, type KoaContextWithOIDC } from "oidc-provider";
import { allPermissions } from "../identity/permissions.ts";
import { type KeySetNow, signingAlgorithm } from "./signing-keys.ts";
import type { TokenClientRow } from "./token-clients.sql.ts";

export interface ProviderDeps {
  issuer: string;
  /** Undefined means that no client of this id may have a token. */
  findClient(clientId: string): Promise<TokenClientRow | undefined>;
  /** It is called after each token. */
  onToken(clientId: string): void;
  /** It is called when something failed that is not the client's fault. */
  onFailure(error: unknown): void;
}

/** These members of a client are our own, beside those of the standard. */
interface OwnMetadata {
  secrets: string[];
  allowed: string[];
  ttl: number;
  tenant: string;
  generation: number;
}

const ownOf = (client: Client): OwnMetadata => client["own"] as OwnMetadata;

/**
 * Serves the token endpoint itself (spec 000 §5.2; contract extensions.md) by a certified library: client_credentials and JWT access tokens
 * of RFC 9068. A new one is built when the keys change. It keeps nothing: clients are read from the database with each request, and a JWT
 * is stored nowhere.
 */
export function createProvider(deps: ProviderDeps, { kid, keys }: KeySetNow): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const provider = new Provider(deps.issuer, configurationOf(deps, { kid, keys }));
  // The digest of 256 random bits needs no slow hash; it is compared in constant time with each secret that is good now.
  provider.Client.prototype.compareClientSecret = function compareClientSecret(this: Client, actual: string) {
    const given = digest(actual);
    return ownOf(this).secrets.some((secret) => timingSafeEqual(given, Buffer.from(secret, "hex")));
  };
  // The address of the issuer counts, not the one that the request came to.
  provider.proxy = true;
  provider.use(async (ctx, next) => {
    await next();
    afterwards(deps, ctx as KoaContextWithOIDC);
  });
  provider.on("server_error", (_ctx, error) => deps.onFailure(error));
  const { pathname, host, protocol } = new URL(deps.issuer);
  const handle = provider.callback();
  return (req, res) => {
    req.headers.host = host;
    req.headers["x-forwarded-proto"] = protocol.slice(0, -1);
    // Errors are JSON, even if the client would accept HTML.
    req.headers.accept = "application/json";
    delete req.headers["x-forwarded-host"];
    Object.assign(req, { baseUrl: pathname.replace(/\/$/, "") });
    return handle(req, res);
  };
}

function configurationOf(deps: ProviderDeps, { kid, keys }: KeySetNow): Configuration {
  const off = { enabled: false } as const;
  return {
    adapter: (name: string) => adapterOf(name, deps),
    jwks: { keys: [...keys] as never },
    routes: { token: oauthPaths.token, jwks: oauthPaths.jwks },
    scopes: [],
    responseTypes: [],
    clientDefaults: { id_token_signed_response_alg: signingAlgorithm },
    clientAuthMethods: ["client_secret_basic", "client_secret_post"],
    extraClientMetadata: { properties: ["own"] },
    clientBasedCORS: () => false,
    enableHttpPostMethods: false,
    ttl: { ClientCredentials: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? 60 },
    extraTokenClaims: (_ctx, token) => {
      const { tenant, generation } = ownOf(token.client as Client);
      return { tenant, gen: generation };
    },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => deps.issuer,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => {
          if (resource !== deps.issuer) throw new errors.InvalidTarget();
          const { allowed, ttl } = ownOf(client);
          checkScope(ctx, allowed);
          return {
            scope: allowed.join(" "),
            audience: deps.issuer,
            accessTokenTTL: ttl,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: signingAlgorithm, kid } },
          };
        },
      },
      devInteractions: off,
      userinfo: off,
      rpInitiatedLogout: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      claimsParameter: off,
    },
  };
}

/** Without a scope in the request the token gets all scopes of the client (RFC 6749 §3.3); a scope that the client lacks is refused, not left out. */
function checkScope(ctx: KoaContextWithOIDC, allowed: readonly string[]): void {
  const params = ctx.oidc.params as { scope?: string };
  if (params.scope === undefined || params.scope === "") {
    params.scope = allowed.join(" ");
    return;
  }
  const beyond = params.scope.split(" ").find((scope) => !allowed.includes(scope));
  if (beyond !== undefined) throw new errors.InvalidScope("requested scope is not allowed", beyond);
}

/** Only clients are read, and nothing is stored: no token of ours has a row, and no other grant type is served. */
function adapterOf(name: string, deps: ProviderDeps) {
  const nothing = async () => undefined;
  const find = name === "Client" ? (clientId: string) => metadataOf(deps, clientId) : nothing;
  return {
    find,
    upsert: nothing,
    findByUserCode: nothing,
    findByUid: nothing,
    consume: nothing,
    destroy: nothing,
    revokeByGrantId: nothing,
  };
}

async function metadataOf(deps: ProviderDeps, clientId: string): Promise<AdapterPayload | undefined> {
  const row = await deps.findClient(clientId);
  if (row === undefined) return undefined;
  const own: OwnMetadata = {
    secrets: row.secrets,
    allowed: row.scopes,
    ttl: row.accessTokenTtl,
    tenant: row.tenant,
    generation: row.generation,
  };
  return {
    client_id: clientId,
    // The standard demands a secret; the digests that are compared are in `own`.
    client_secret: "kept-as-a-digest",
    grant_types: ["client_credentials"],
    response_types: [],
    redirect_uris: [],
    own,
  } as AdapterPayload;
}

function afterwards(deps: ProviderDeps, ctx: KoaContextWithOIDC): void {
  if (ctx.path === oauthPaths.discovery) ctx.body = discovery(ctx.body as Record<string, unknown>);
  if (ctx.path !== oauthPaths.token) return;
  const clientId = ctx.oidc?.client?.clientId;
  if (ctx.status === 200 && clientId !== undefined) deps.onToken(clientId);
  // RFC 6749 §5.2 demands the header also where the client authenticated in the body.
  if (ctx.status === 401 && !ctx.response.get("www-authenticate")) ctx.set("www-authenticate", `Basic realm="${deps.issuer}"`);
}

/** The metadata lists only what is served: the library's document also lists endpoints for users, which only external identity providers have. */
function discovery(all: Record<string, unknown>): Record<string, unknown> {
  const { issuer, jwks_uri, token_endpoint, grant_types_supported, token_endpoint_auth_methods_supported } = all;
  return {
    issuer,
    token_endpoint,
    jwks_uri,
    grant_types_supported,
    response_types_supported: [],
    token_endpoint_auth_methods_supported,
    scopes_supported: [managementScope, deviceScope, ...allPermissions],
  };
}
