import { randomBytes } from "node:crypto";
import { oauthPaths } from "@harrier/contracts";
import { digest } from "@harrier/db";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { allPermissions } from "../identity/permissions.ts";
import { changeClient, createClients, removeClient, rotateSecret } from "../oauth-clients/oauth-clients.ts";
import { createRoles } from "../roles/roles.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { issuer, type TokenReplica, tokenReplica } from "../testing/tokens.fixture.ts";
import { signInClient } from "./sign-in-client.ts";

let fixture: Fixture;
let first: TokenReplica;
let second: TokenReplica;
const grant = { grant_type: "client_credentials" };

beforeAll(async () => {
  fixture = await managementFixture();
  // Both replicas start at once, as after an installation, and make one key together.
  [first, second] = await Promise.all([tokenReplica(fixture), tokenReplica(fixture)]);
});
afterAll(async () => {
  await first.close();
  await second.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.rows("delete from oauth_clients");
  await fixture.rows("update tenants set status = 'active'");
});

const admin = () => ({ tenantId: fixture.tenantId, subject: "admin", permissions: allPermissions });

async function client(members: { scopes?: string[]; accessTokenTtl?: number } = {}) {
  const [made] = await createClients(fixture, admin(), [
    { name: "c", scopes: ["READ_TARGET", "API_KEY"], accessTokenTtl: 600, ...members },
  ]);
  if (made === undefined) throw new Error("no client");
  return { ...made, basic: `${made.clientId}:${made.clientSecret}` };
}

const get = async (replica: TokenReplica, path: string) => {
  const answer = await fetch(replica.url + path);
  // biome-ignore lint/suspicious/noExplicitAny: a body as a client sees it
  return { status: answer.status, body: (await answer.json()) as any };
};

const signIn = (token: string) => {
  const { client_id, scope, gen } = decodeJwt(token) as { client_id: string; scope: string; gen: number };
  return signInClient({ db: fixture.db.pool }, { clientId: client_id, scopes: scope.split(" "), generation: gen });
};

test("a client gets a token with either way of sending the secret, and any replica's keys verify it", async () => {
  const { clientId, clientSecret, basic } = await client();
  const began = Math.floor(Date.now() / 1_000);
  for (const answer of [
    await first.token(grant, { basic }),
    await second.token({ ...grant, client_id: clientId, client_secret: clientSecret }),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({ access_token: expect.any(String), expires_in: 600, token_type: "Bearer", scope: "READ_TARGET API_KEY" });
    for (const replica of [first, second]) {
      const jwks = (await get(replica, oauthPaths.jwks)).body;
      expect(Object.keys(jwks.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
      const verified = await jwtVerify(answer.body.access_token, createLocalJWKSet(jwks), { issuer, audience: issuer, typ: "at+jwt" });
      expect(verified.payload).toEqual({
        iss: issuer,
        aud: issuer,
        sub: clientId,
        client_id: clientId,
        tenant: "DEFAULT",
        scope: "READ_TARGET API_KEY",
        gen: 1,
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: (verified.payload.iat as number) + 600,
      });
      expect(verified.payload.iat).toBeGreaterThanOrEqual(began);
    }
  }
  const [{ used } = { used: undefined }] = await fixture.rows(
    "select last_used_on = (now() at time zone 'UTC')::date as used from oauth_clients",
  );
  expect(used).toBe(true);
});

test("a client may ask for fewer scopes, and gets only those", async () => {
  const { basic } = await client();
  expect((await first.token({ ...grant, scope: "API_KEY" }, { basic })).body.scope).toBe("API_KEY");
  expect((await first.token({ ...grant, scope: "" }, { basic })).body.scope).toBe("READ_TARGET API_KEY");
  expect((await first.token({ ...grant, resource: issuer }, { basic })).status).toBe(200);
});

test("each error follows RFC 6749 §5.2", async () => {
  const { clientId, clientSecret, basic } = await client();
  const post = { client_id: clientId, client_secret: clientSecret };
  const refusals: [Awaited<ReturnType<TokenReplica["token"]>>, number, string][] = [
    [await first.token(grant), 400, "invalid_request"],
    [await first.token(grant, { basic: `${clientId}:wrong` }), 401, "invalid_client"],
    [await first.token(grant, { basic: `${clientId}:kept-as-a-digest` }), 401, "invalid_client"],
    [await first.token(grant, { basic: `${clientId}:${digest(clientSecret).toString("hex")}` }), 401, "invalid_client"],
    [await first.token(grant, { basic: `oc_1_999999:${clientSecret}` }), 401, "invalid_client"],
    [await first.token(grant, { basic: `oc_2_${clientId.split("_")[2]}:${clientSecret}` }), 401, "invalid_client"],
    [await first.token(grant, { basic: `nobody:${clientSecret}` }), 401, "invalid_client"],
    [await first.token({ ...grant, ...post, client_secret: "wrong" }), 401, "invalid_client"],
    [await first.token({ ...grant, client_id: clientId }), 401, "invalid_client"],
    [await first.token({ ...grant, ...post }, { basic }), 400, "invalid_request"],
    [await first.token({}, { basic }), 400, "invalid_request"],
    [await first.token("grant_type=client_credentials&grant_type=client_credentials", { basic }), 400, "invalid_request"],
    [await first.token({ grant_type: "password", username: "admin", password: "x" }, { basic }), 400, "unsupported_grant_type"],
    [
      await first.token({ grant_type: "authorization_code", code: "x" }, { basic }),
      400,
      expect.stringMatching(/^(unsupported_grant_type|invalid_request)$/) as never,
    ],
    [await first.token({ ...grant, scope: "UPDATE_TARGET" }, { basic }), 400, "invalid_scope"],
    [await first.token({ ...grant, scope: "READ_TARGET management-full-access" }, { basic }), 400, "invalid_scope"],
    [await first.token({ ...grant, scope: "READ_TARGET  API_KEY" }, { basic }), 400, "invalid_scope"],
    [await first.token({ ...grant, scope: 'a"b' }, { basic }), 400, "invalid_scope"],
    [await first.token({ ...grant, resource: "https://elsewhere.example" }, { basic }), 400, "invalid_target"],
    [await first.token(JSON.stringify(grant), { basic, headers: { "content-type": "application/json" } }), 400, "invalid_request"],
    [await first.token("%", { basic }), 400, "invalid_request"],
    [await first.token("x".repeat(100_000), { basic }), 400, "invalid_request"],
    [await first.token(grant, { headers: { authorization: "Basic !!!" } }), 400, "invalid_request"],
    [await first.token(grant, { headers: { authorization: "Bearer x" } }), 400, "invalid_request"],
  ];
  for (const [n, [answer, status, error]] of refusals.entries()) {
    expect([answer.status, answer.body.error], `refusal ${n}: ${JSON.stringify(answer.body)}`).toEqual([status, error]);
    expect(answer.headers.get("content-type"), `refusal ${n}`).toMatch(/^application\/json/);
    expect(answer.headers.get("cache-control"), `refusal ${n}`).toBe("no-store");
    if (status === 401) expect(answer.headers.get("www-authenticate"), `refusal ${n}`).toMatch(/^Basic /);
  }
});

test("both secrets are good during a rotation, and only the new one after it", async () => {
  const { clientId, basic } = await client();
  const status = async (credentials: string) => (await second.token(grant, { basic: credentials })).status;
  const rotated = await rotateSecret(fixture, admin(), { clientId, previousSecretTtl: 3_600 });
  const next = `${clientId}:${rotated.clientSecret}`;
  expect([await status(basic), await status(next)]).toEqual([200, 200]);
  await fixture.rows("update oauth_clients set previous_until = now() - interval '1 second'");
  expect([await status(basic), await status(next)]).toEqual([401, 200]);
  const last = await rotateSecret(fixture, admin(), { clientId, previousSecretTtl: 0 });
  expect([await status(next), await status(`${clientId}:${last.clientSecret}`)]).toEqual([401, 200]);
});

test("a client of a suspended tenant gets no token, and its existing one is refused", async () => {
  const { basic } = await client();
  const { body } = await first.token(grant, { basic });
  expect(await signIn(body.access_token)).toMatchObject({ ok: true });
  await fixture.rows("update tenants set status = 'suspended'");
  const refused = await first.token(grant, { basic });
  expect([refused.status, refused.body.error]).toEqual([401, "invalid_client"]);
  expect(await signIn(body.access_token)).toMatchObject({ ok: false, permissions: [], devices: false });
});

test("a token allows its scopes as long as its client still has them", async () => {
  const [role] = await createRoles(fixture, admin(), [{ name: "Wörker 5%", permissions: [{ permission: "HANDLE_ROLLOUT" }] }]);
  const scopes = ["TENANT_CONFIGURATION", "device-full-access", `role:${encodeURIComponent("Wörker 5%")}`];
  const made = await client({ scopes });
  const { body } = await first.token(grant, { basic: made.basic });
  expect(body.scope).toBe(scopes.join(" "));
  const now = await signIn(body.access_token);
  expect(now).toMatchObject({ ok: true, tenantId: 1, tenant: "DEFAULT", devices: true, userId: -made.id, targetTypeScopes: {} });
  expect(now.permissions?.toSorted()).toEqual([
    "HANDLE_ROLLOUT",
    "READ_GATEWAY_SECURITY_TOKEN",
    "READ_TENANT_CONFIGURATION",
    "TENANT_CONFIGURATION",
  ]);
  // The client may ask for a part of its scopes.
  const part = (await first.token({ ...grant, scope: "device-full-access" }, { basic: made.basic })).body.access_token;
  expect(await signIn(part)).toMatchObject({ ok: true, permissions: [], devices: true });
  await changeClient(fixture, admin(), { clientId: made.clientId, change: { scopes: [scopes[2] as string, "API_KEY"] } });
  expect(await signIn(body.access_token)).toMatchObject({ permissions: ["HANDLE_ROLLOUT"], devices: false });
  await fixture.rows("delete from roles where id = $1", [role?.id]);
  expect(await signIn(body.access_token)).toMatchObject({ ok: true, permissions: [] });
  await rotateSecret(fixture, admin(), { clientId: made.clientId, previousSecretTtl: 0 });
  expect(await signIn(body.access_token)).toMatchObject({ ok: false });
  await removeClient(fixture, admin(), { clientId: made.clientId });
  expect(await signIn(body.access_token)).toMatchObject({ ok: false });
});

test("the metadata lists what is served, under the issuer's address", async () => {
  const { status, body } = await get(first, oauthPaths.discovery);
  expect(status).toBe(200);
  expect(body).toEqual({
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    jwks_uri: `${issuer}/oauth2/jwks`,
    grant_types_supported: ["client_credentials"],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
    scopes_supported: expect.arrayContaining(["management-full-access", "device-full-access", "READ_TARGET"]),
  });
  for (const path of ["/auth", "/oauth2/auth", "/session/end", "/reg", "/oauth2/token/introspection"]) {
    expect((await fetch(first.url + path)).status, path).toBe(404);
  }
});

test("keys are sealed, follow one another and stay good until no token of theirs is valid", async () => {
  const { basic } = await client();
  const stored = await fixture.rows("select number, kid, cipher, public_jwk from signing_keys");
  expect(stored).toHaveLength(1);
  expect(stored[0]?.["public_jwk"]).not.toHaveProperty("d");
  expect(Buffer.from((stored[0] as { cipher: Buffer }).cipher).toString("latin1")).not.toContain('"d"');
  const kidOf = async (replica: TokenReplica) => decodeProtectedHeader((await replica.token(grant, { basic })).body.access_token).kid;
  const published = async (replica: TokenReplica) => (await get(replica, oauthPaths.jwks)).body.keys.map((key: { kid: string }) => key.kid);
  const before = (await first.token(grant, { basic })).body.access_token;
  const old = stored[0]?.["kid"] as string;
  // The key is old enough: it gets one successor, which is published at once and signs later.
  await fixture.rows("update signing_keys set created_at = now() - interval '91 days', signs_from = now() - interval '91 days'");
  await Promise.all([first.keys.refresh(), second.keys.refresh()]);
  await second.keys.refresh();
  const next = (await published(first)).find((kid: string) => kid !== old);
  expect([await published(first), await published(second)]).toEqual([
    [old, next],
    [old, next],
  ]);
  expect([await kidOf(first), await kidOf(second)]).toEqual([old, old]);
  await fixture.rows("update signing_keys set signs_from = now() where number = 2");
  await first.keys.refresh();
  // A replica that has not polled yet signs with the old key, and both replicas verify both keys.
  expect([await kidOf(first), await kidOf(second)]).toEqual([next, old]);
  const jwks = createLocalJWKSet((await get(second, oauthPaths.jwks)).body);
  for (const token of [before, (await first.token(grant, { basic })).body.access_token]) await jwtVerify(token, jwks);
  await fixture.rows("update signing_keys set signs_from = now() - interval '26 hours' where number = 2");
  await second.keys.refresh();
  expect(await published(second)).toEqual([next]);
  await expect(jwtVerify(before, createLocalJWKSet((await get(second, oauthPaths.jwks)).body))).rejects.toThrow();
  // All keys are withdrawn, so a new one is made at once.
  await fixture.rows("delete from signing_keys");
  await first.keys.refresh();
  expect(await published(first)).toEqual([expect.not.stringMatching(next)]);
  await second.keys.refresh();
});

test("names that only look like client ids are not looked up in the database", async () => {
  const ask = (clientId: string) => first.token(grant, { basic: `${clientId}:${randomBytes(8).toString("hex")}` });
  expect(await fixture.roundTrips.during(() => ask("x".repeat(2_000)))).toBe(0);
  expect(await fixture.roundTrips.during(() => ask("oc_1_1' or '1'='1"))).toBe(0);
});
