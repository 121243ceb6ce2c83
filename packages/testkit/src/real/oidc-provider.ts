import { createHash, generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import Provider, { type Configuration, errors, type JWK, type TokenEndpointGrantContext } from "oidc-provider";

/** A user of the provider, whose password is the name. */
export interface OidcUser {
  name: string;
  /** The scopes of the access tokens contain these roles. */
  roles: readonly string[];
  tenant?: string;
}

export interface OidcProviderOptions {
  port?: number;
  audience?: string;
  /** They are read at each sign-in, so that a change is in the next token. */
  users: OidcUser[];
  /** The lifetime of a token in seconds. */
  tokenTtl?: number;
}

export interface OidcProvider {
  issuer: string;
  /** Answers an access token, as an application in a browser gets it: by authorization code and PKCE. */
  signIn(name: string): Promise<string>;
  /** Does what a person does in a browser at the address that the device flow shows. */
  approve(address: string, name: string): Promise<void>;
  /** Signs later tokens with another key; the former one is no longer published. */
  rotateKeys(): void;
  /** Closes every connection, or serves again. */
  setDown(down: boolean): void;
  stop(): Promise<void>;
}

/** The id of a public client, without a secret, for machines of developers. */
export const oidcClientId = "harrier-cli";
/** The id under which the console of a gateway on 127.0.0.1 signs people in. */
export const oidcConsoleClientId = "harrier-console";
const redirectUri = "http://127.0.0.1/signed-in";
const resource = "urn:harrier";

/** Starts an OpenID provider on 127.0.0.1, the real `oidc-provider` with its own users. It is only for tests and for trying things out. */
export async function startOidcProvider(options: OidcProviderOptions): Promise<OidcProvider> {
  const state = { serve: (_req: IncomingMessage, res: ServerResponse): void => void res.end(), down: false };
  const server = createServer((req, res) => {
    if (state.down) req.socket.destroy();
    else state.serve(req, res);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rotateKeys = (): void => {
    state.serve = serving(issuer, options);
  };
  rotateKeys();
  return {
    issuer,
    signIn: (name) => signIn(issuer, name),
    approve,
    rotateKeys,
    setDown(down) {
      state.down = down;
      if (down) server.closeAllConnections();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Makes a provider with a new key. */
function serving(issuer: string, options: OidcProviderOptions): (req: IncomingMessage, res: ServerResponse) => void {
  const key = { ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig" };
  const provider = new Provider(issuer, configuration(options, { ...key, alg: "ES256" } as JWK));
  allowPasswords(provider, options);
  allowAnyPort(provider);
  const serve = provider.callback();
  return (req, res) => {
    if (req.url?.startsWith("/sign-in/"))
      void loginPage(provider, options, { req, res }).catch((error: Error) => res.writeHead(400).end(error.message));
    else void serve(req, res);
  };
}

/** Harrier is the audience of the tokens. */
const resourceServer = ({ audience = "harrier", tokenTtl = 600 }: OidcProviderOptions) =>
  ({ scope: "openid", audience, accessTokenFormat: "jwt", accessTokenTTL: tokenTtl, jwt: { sign: { alg: "ES256" } } }) as const;

function configuration(options: OidcProviderOptions, key: JWK): Configuration {
  const userOf = (name: string) => options.users.find((user) => user.name === name);
  return {
    jwks: { keys: [key] },
    ttl: { Interaction: 600, Grant: 3_600, Session: 3_600, AccessToken: () => options.tokenTtl ?? 600, IdToken: 600 },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    clients: [
      {
        client_id: oidcClientId,
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "password", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: "ES256",
      },
      {
        client_id: oidcConsoleClientId,
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code"],
        redirect_uris: ["http://127.0.0.1/console/auth/callback"],
        id_token_signed_response_alg: "ES256",
      },
    ],
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true, ...devicePages },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => resourceServer(options),
      },
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
    // nobody is asked what the application may do, because it is the operator's own
    async loadExistingGrant(ctx) {
      const { client, session, provider } = ctx.oidc;
      const grant = new provider.Grant({ clientId: client?.clientId ?? "", accountId: session?.accountId ?? "" });
      grant.addOIDCScope("openid offline_access");
      grant.addResourceScope(resource, "openid");
      await grant.save();
      return grant;
    },
    findAccount: (_ctx, name) => (userOf(name) ? { accountId: name, claims: () => ({ sub: name }) } : undefined),
    formats: {
      customizers: {
        jwt(_ctx, token, jwt) {
          const user = userOf("accountId" in token ? String(token.accountId) : "");
          Object.assign(jwt.payload, { scope: user?.roles.join(" "), preferred_username: user?.name, tenant: user?.tenant });
        },
      },
    },
  };
}

type Page = { body: unknown };

const devicePages = {
  async userCodeInputSource(ctx: Page, form: string): Promise<void> {
    ctx.body = `<title>Code</title>${form}`;
  },
  async userCodeConfirmSource(ctx: Page, form: string): Promise<void> {
    ctx.body = `<title>Confirm</title>${form}<button form="op.deviceConfirmForm">Continue</button>`;
  },
  async successSource(ctx: Page): Promise<void> {
    ctx.body = "<title>Signed in</title>";
  },
};

/** Lets the console be at any port of this machine, because those of tests are free ones. */
function allowAnyPort(provider: Provider): void {
  const { prototype } = provider.Client;
  const allowed = prototype.redirectUriAllowed;
  prototype.redirectUriAllowed = function (this: typeof prototype, uri: string): boolean {
    return allowed.call(this, uri.replace(/^(http:\/\/127\.0\.0\.1):\d+(?=\/)/, "$1"));
  };
}

/** Allows `grant_type=password`, so that a token can be fetched with curl. */
function allowPasswords(provider: Provider, options: OidcProviderOptions): void {
  const grant = async (ctx: TokenEndpointGrantContext<{ username: string; password: string }>): Promise<void> => {
    const { username = "", password } = ctx.oidc.params ?? {};
    const { client } = ctx.oidc;
    if (client === undefined || !isRight(options, username, password)) throw new errors.InvalidGrant("no such user, or another password");
    const consent = new provider.Grant({ clientId: client.clientId, accountId: username });
    consent.addResourceScope(resource, "openid");
    const token = new provider.AccessToken({
      accountId: username,
      client,
      grantId: await consent.save(),
      gty: "password",
      scope: "openid",
    });
    token.resourceServer = new provider.ResourceServer(resource, resourceServer(options));
    ctx.body = { access_token: await token.save(), expires_in: token.expiration, token_type: "Bearer" };
  };
  provider.registerGrantType("password", grant, ["username", "password"]);
}

/** Whether a password is right. The name is sufficient as a password, because nobody else trusts this provider's tokens. */
const isRight = ({ users }: OidcProviderOptions, name: unknown, password: unknown): boolean =>
  name === password && users.some((user) => user.name === name);

const page = `<!doctype html><title>Sign in</title><form method="post">
<input name="name" placeholder="name" autofocus><input name="password" type="password" placeholder="the name again"><button>Sign in</button></form>`;

async function loginPage(
  provider: Provider,
  options: OidcProviderOptions,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<void> {
  if (req.method !== "POST") {
    res.writeHead(200, { "content-type": "text/html" }).end(page);
    return;
  }
  const form = new URLSearchParams(await text(req));
  const [name, password] = [form.get("name") ?? "", form.get("password")];
  const result = isRight(options, name, password) ? { login: { accountId: name } } : { error: "access_denied" };
  await provider.interactionFinished(req, res, result);
}

/** Does what a browser and an application do (RFC 6749 §4.1, RFC 7636). */
async function signIn(issuer: string, name: string): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const requested = { client_id: oidcClientId, response_type: "code", redirect_uri: redirectUri, scope: "openid" };
  const pkce = { code_challenge: challenge, code_challenge_method: "S256" };
  const browser = createBrowser();
  const login = await browser(new URL(`/auth?${new URLSearchParams({ ...requested, ...pkce })}`, issuer));
  const back = await browser(login, new URLSearchParams({ name, password: name }));
  const code = back.searchParams.get("code");
  if (code === null) throw new Error(`${name} was not signed in: ${back}`);
  const grant = { grant_type: "authorization_code", client_id: oidcClientId, code, redirect_uri: redirectUri, code_verifier: verifier };
  const answer = await fetch(new URL("/token", issuer), { method: "POST", body: new URLSearchParams(grant) });
  if (!answer.ok) throw new Error(`no token for ${name}: ${await answer.text()}`);
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Follows the forms of the device flow (RFC 8628 §3.3) to the page that says that the person is signed in. */
async function approve(address: string, name: string): Promise<void> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  let form: URLSearchParams | undefined;
  for (let steps = 0; steps < 20; steps += 1) {
    const headers = { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join("; ") };
    const answer = await fetch(url, { redirect: "manual", headers, ...(form === undefined ? {} : { method: "POST", body: form }) });
    const body = await answer.text();
    if (answer.status >= 400) throw new Error(`${url.pathname} answers ${answer.status}: ${body}`);
    for (const cookie of answer.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(key, value);
    }
    const location = answer.headers.get("location");
    form = undefined;
    if (location !== null) url = new URL(location, url);
    else if (body.includes("<title>Signed in</title>")) return;
    else {
      const action = /<form[^>]*action="([^"]*)"/.exec(body)?.[1];
      if (action !== undefined) url = new URL(action, url);
      form = new URLSearchParams(action === undefined ? { name, password: name } : {});
      for (const [, key = "", value = ""] of body.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)) form.set(key, value);
    }
  }
  throw new Error(`${name} was not signed in at ${address}`);
}

/** Follows redirects, with cookies, to the first page or to the application. */
function createBrowser(): (url: URL, form?: URLSearchParams) => Promise<URL> {
  const cookies = new Map<string, string>();
  return async function open(url: URL, form?: URLSearchParams): Promise<URL> {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const answer = await fetch(url, { redirect: "manual", headers, ...(form === undefined ? {} : { method: "POST", body: form }) });
    const body = await answer.text();
    if (answer.status >= 400) throw new Error(`${url.pathname} answers ${answer.status}: ${body}`);
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location === null) return url;
    const next = new URL(location, url);
    return next.href.startsWith(redirectUri) ? next : open(next);
  };
}
