import {
  type AuditEntryView,
  type OAuth2ClientView,
  type OAuth2ClientWithSecret,
  oauthPaths,
  routeTable as r,
  type UserinfoView,
} from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { credentials } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { oauth2ClientBuilder } from "../support/oauth2-clients.ts";
import { claimsOf, openPage, tokenAnswer, tokenOf } from "../support/tokens.ts";
import { eventually } from "../support/wait.ts";

const notFound = [404, "repo.entityNotFound"] as const;
const forbidden = [403, "insufficientPermission"] as const;

describe.each(dialects)("OAuth 2.0 clients, %s", (dialect) => {
  const { one, body, create, get, rotate, update, remove } = oauth2ClientBuilder(dialect);
  const { user, role } = accessBuilder(dialect);
  const targets = (auth: string) => ask(r.targets.list, dialect, { auth });

  it("extensions a client is created, shown without its secret, listed, searched and sorted", async () => {
    const scopes = ["READ_TARGET", "role:SYSTEM_ADMIN"];
    const { clientSecret, ...view } = await create({ scopes, accessTokenTtl: 60 });
    expect(clientSecret).toMatch(/^ocs_[\w-]{43}$/);
    expect(view).toMatchObject({ description: "d", scopes, accessTokenTtl: 60, createdBy: credentials.adminUser });
    expect(view).not.toHaveProperty("lastUsedOn");
    expect(await get(view.clientId)).toEqual(view);
    const other = await create({ name: `${view.name}-2` });
    const find = async (query: object) => (await call<Page<OAuth2ClientView>>(r.oauth2Clients.list, dialect, { query: { ...query } })).json;
    expect(await find({ q: `clientid==${view.clientId}` })).toEqual({ content: [view], total: 1, size: 1 });
    const both = await find({ q: `name==${view.name}*`, sort: "name:DESC", limit: 1 });
    expect([both.total, both.content.map(({ clientId }) => clientId)]).toEqual([2, [other.clientId]]);
  });

  it("extensions all clients of a request are created or none, names are unique, one object counts as a list of it", async () => {
    const { name } = await create();
    await refused(r.oauth2Clients.create, dialect, { body: [body(), body({ name })] }, [409, "repo.entityAlreadyExists"]);
    const alone = await call<OAuth2ClientWithSecret[]>(r.oauth2Clients.create, dialect, { body: body() });
    expect(alone.json).toHaveLength(1);
    await refused(r.oauth2Clients.update, dialect, { ...one(alone.json[0]?.clientId ?? ""), body: { name } }, [
      409,
      "repo.entityAlreadyExists",
    ]);
  });

  it("extensions unknown scopes, and lifetimes that are too short or too long, are rejected", async () => {
    const wrong = [
      { scopes: [] },
      { scopes: undefined },
      { scopes: ["openid"] },
      { scopes: ["READ_EVERYTHING"] },
      { scopes: ["role:"] },
      { scopes: ["role:a b"] },
      { accessTokenTtl: 59 },
      { accessTokenTtl: 86_401 },
      { name: "" },
      { description: "x".repeat(513) },
    ];
    for (const members of wrong) {
      await refused(r.oauth2Clients.create, dialect, { body: [body(members)] }, [400, "repo.constraintViolation"]);
    }
    await refused(r.oauth2Clients.create, dialect, { body: [body({ scopes: ["role:nobody"] })] }, notFound);
  });

  it("extensions unknown clients are not found", async () => {
    const { clientId } = await create();
    await remove(clientId);
    for (const missing of [clientId, "oc_2_11", "nobody"]) {
      await refused(r.oauth2Clients.get, dialect, one(missing), notFound);
      await refused(r.oauth2Clients.update, dialect, { ...one(missing), body: { description: "x" } }, notFound);
      await refused(r.oauth2Clients.delete, dialect, one(missing), notFound);
      await refused(r.oauth2Clients.rotateSecret, dialect, { ...one(missing), body: {} }, notFound);
    }
  });

  it("extensions nobody can give a client more than their own permissions, or take over a client that has more", async () => {
    const { auth } = await user(["USER_MANAGEMENT", { permission: "READ_TARGET", targetTypeScopes: [] }]);
    const named = await role([{ permission: "HANDLE_ROLLOUT" }]);
    for (const scope of ["READ_TARGET", "API_KEY", "management-full-access", "device-full-access", "SYSTEM_ADMIN", `role:${named.name}`]) {
      await refused(r.oauth2Clients.create, dialect, { auth, body: [body({ scopes: [scope] })] }, forbidden);
    }
    const { clientId } = await create({ scopes: ["API_KEY"] });
    await refused(r.oauth2Clients.update, dialect, { auth, ...one(clientId), body: { scopes: ["API_KEY", "HANDLE_ROLLOUT"] } }, forbidden);
    await refused(r.oauth2Clients.rotateSecret, dialect, { auth, ...one(clientId), body: {} }, forbidden);
    await call(r.oauth2Clients.update, dialect, { auth, ...one(clientId), body: { scopes: ["API_KEY"], description: "still" } });
  });

  it("spec 000 5.2 a client is limited by its scopes and by the scopes that it requested", async () => {
    const client = await create({ scopes: ["READ_TARGET", "READ_REPOSITORY"] });
    const token = await tokenOf(client);
    expect((await targets(token)).status).toBe(200);
    expect((await ask(r.distributionSets.list, dialect, { auth: token })).status).toBe(200);
    await refused(r.targets.create, dialect, { auth: token, body: [{ controllerId: unique() }] }, forbidden);
    const less = await tokenOf(client, { scope: "READ_REPOSITORY" });
    await refused(r.targets.list, dialect, { auth: less }, forbidden);
    const who = (await call<UserinfoView>(r.userinfo.get, dialect, { auth: token })).json;
    expect([who.username, who.permissions?.toSorted()]).toEqual([client.clientId, ["READ_REPOSITORY", "READ_TARGET"]]);
    expect(who).toMatchObject({ kind: "client" });
    expect(who).not.toHaveProperty("id");
    expect(who).not.toHaveProperty("issuer");
    expect(await get(client.clientId)).toHaveProperty("lastUsedOn", new Date().toISOString().slice(0, 10));
  });

  it("extensions management-full-access grants everything within the tenant, a role its current permissions", async () => {
    const all = await tokenOf(await create({ scopes: ["management-full-access"] }));
    const created = await ask<{ createdBy: string }[]>(r.targets.create, dialect, { auth: all, body: [{ controllerId: unique() }] });
    expect([created.status, created.json[0]?.createdBy]).toEqual([201, expect.stringMatching(/^oc_/)]);
    const held = await role([{ permission: "READ_TARGET", targetTypeScopes: [] }]);
    const bound = await tokenOf(await create({ scopes: [`role:${held.name}`] }));
    expect((await ask<Page<unknown>>(r.targets.list, dialect, { auth: bound })).json.total).toBe(0);
  });

  it("extensions both secrets are valid during a rotation", async () => {
    const first = await create();
    const second = await rotate(first.clientId);
    expect(second.clientSecret).not.toBe(first.clientSecret);
    expect(second.previousSecretExpiresAt).toBeGreaterThan(Date.now());
    for (const client of [first, second]) await tokenOf(client);
    const third = await rotate(first.clientId, { body: { previousSecretTtl: 0 } });
    expect(third).not.toHaveProperty("previousSecretExpiresAt");
    for (const client of [first, second]) expect((await tokenAnswer(client)).status).toBe(401);
    await tokenOf(third);
  });

  it("spec 000 5.2 a permission that a client loses is lost to its tokens within seconds", async () => {
    const client = await create({ scopes: ["READ_TARGET", "API_KEY"] });
    const token = await tokenOf(client);
    expect((await targets(token)).status).toBe(200);
    const until = async (status: number) => {
      for (const began = Date.now(); (await targets(token)).status !== status; ) expect(Date.now() - began).toBeLessThan(5_000);
    };
    await update(client.clientId, { scopes: ["API_KEY"] });
    await until(403);
    await remove(client.clientId);
    await until(401);
    expect((await tokenAnswer(client)).status).toBe(401);
  });
});

describe("device 9 row 5: an access token at the device interface", () => {
  const { create } = oauth2ClientBuilder("spec");
  const poll = (auth: string, params: object = {}) => ask(r.device.poll, "device", { params: { controllerId: unique(), ...params }, auth });

  it("with device-full-access it authenticates every device of its tenant, including new ones", async () => {
    const token = await tokenOf(await create({ scopes: ["device-full-access"] }));
    expect((await poll(token)).status).toBe(200);
    expect((await poll(token, { tenant: "default" })).status).toBe(200);
    expect((await poll(token, { tenant: "OTHER" })).status).toBe(401);
    await refused(r.targets.list, "spec", { auth: token }, forbidden);
  });

  it("without that scope, or tampered with, it is denied like any other wrong credential", async () => {
    const client = await create({ scopes: ["management-full-access"] });
    const token = await tokenOf(client);
    for (const auth of [token, `${token}x`, "Bearer x", "Bearer a.b.c"]) {
      const { status, headers, text } = await poll(auth);
      expect([status, headers["www-authenticate"], text]).toEqual([401, "ApiKey", ""]);
    }
  });
});

describe("extensions: the token endpoint", () => {
  const { create } = oauth2ClientBuilder("spec");

  it("answers with a JWT that names the client and its lifetime", async () => {
    const client = await create({ scopes: ["READ_TARGET", "API_KEY"], accessTokenTtl: 120 });
    const { status, json, headers } = await tokenAnswer(client);
    expect([status, headers["cache-control"]]).toEqual([200, "no-store"]);
    expect(json).toMatchObject({ token_type: "Bearer", expires_in: 120, scope: "READ_TARGET API_KEY" });
    const claims = claimsOf(json["access_token"]);
    const { json: about } = await openPage(oauthPaths.discovery);
    expect(claims).toMatchObject({
      iss: about["issuer"],
      aud: about["issuer"],
      sub: client.clientId,
      client_id: client.clientId,
      tenant: "DEFAULT",
      scope: "READ_TARGET API_KEY",
      jti: expect.any(String),
    });
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(120);
    expect((await tokenAnswer(client, {}, "post")).status).toBe(200);
  });

  it("denies requests as RFC 6749 §5.2 demands", async () => {
    const client = await create();
    const wrong = { ...client, clientSecret: "wrong" };
    const nobody = { clientId: "oc_1_999999999", clientSecret: client.clientSecret };
    const cases: [Awaited<ReturnType<typeof tokenAnswer>>, number, string][] = [
      [await tokenAnswer(wrong), 401, "invalid_client"],
      [await tokenAnswer(wrong, {}, "post"), 401, "invalid_client"],
      [await tokenAnswer(nobody), 401, "invalid_client"],
      [await tokenAnswer({ ...client, clientId: "x".repeat(2_000) }), 401, "invalid_client"],
      [await tokenAnswer(client, { scope: "READ_TARGET" }), 400, "invalid_scope"],
      [await tokenAnswer(client, { scope: "USER_MANAGEMENT SYSTEM_ADMIN" }), 400, "invalid_scope"],
      [await tokenAnswer(client, { grant_type: "password" }), 400, "unsupported_grant_type"],
      [await tokenAnswer(client, { grant_type: "" }), 400, "invalid_request"],
      [await tokenAnswer(client, { resource: "https://elsewhere.example" }), 400, "invalid_target"],
      [await openPage(oauthPaths.token, { method: "POST" }), 400, "invalid_request"],
      [
        await openPage(oauthPaths.token, { method: "POST", body: "{", headers: { "content-type": "application/json" } }),
        400,
        "invalid_request",
      ],
    ];
    for (const [n, [answer, status, error]] of cases.entries()) {
      expect([answer.status, answer.json["error"]], `case ${n}: ${answer.text}`).toEqual([status, error]);
      if (status === 401) expect(answer.headers["www-authenticate"], `case ${n}`).toMatch(/^Basic /);
    }
  });

  it("wrong secrets are recorded in both forms, throttled like failed sign-ins, and lock no client out", async () => {
    const [client, slowed] = [await create(), await create()];
    const wrong = ({ clientId }: typeof client) => ({ clientId, clientSecret: unique("secret") });
    await tokenOf(slowed);
    for (const by of ["basic", "post", "post"] as const) expect((await tokenAnswer(wrong(client), {}, by)).status).toBe(401);
    const entries = async () =>
      (await call<Page<AuditEntryView>>(r.audit.list, "spec", { query: { q: `action==signIn;actor==${client.clientId}` } })).json.content;
    const outcomes = await eventually(async () => {
      const found = await entries();
      return found.reduce((sum, { times }) => sum + times, 0) === 3 && found;
    });
    expect(new Set(outcomes.map(({ details }) => details["scheme"]))).toEqual(new Set(["client_secret_basic", "client_secret_post"]));
    for (const entry of outcomes) {
      expect(entry).toMatchObject({ actorType: "NOBODY", result: "REFUSED", status: 401, errorCode: "unauthenticated" });
      expect(entry).toMatchObject({ entity: "oauth2Client", entityIds: [client.clientId], sourceIp: expect.stringMatching(/./) });
    }

    // These are twice as many as one minute admits, and one more, in case a minute ended meanwhile.
    const answers = [];
    for (let n = 0; n < 21; n += 1) answers.push(await tokenAnswer(wrong(slowed)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    const late = answers.find(({ status }) => status === 429);
    expect([late?.text, Number(late?.headers["retry-after"]) >= 1]).toEqual(["", true]);
    await tokenOf(slowed);
    await tokenOf(client);
  });

  it("other methods and too large bodies are denied", async () => {
    for (const path of Object.values(oauthPaths)) {
      const other = path === oauthPaths.token ? "GET" : "POST";
      const { status, headers } = await openPage(path, { method: other });
      expect([status, headers["allow"]]).toEqual([405, other === "GET" ? "POST" : "GET"]);
    }
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await openPage(oauthPaths.token, { method: "POST", headers: form, body: "x".repeat(70_000) })).status).toBe(413);
    expect((await openPage(`${oauthPaths.token}/`, { method: "POST" })).status).toBe(404);
    expect((await openPage("/oauth2/auth")).status).toBe(404);
  });

  it("shows public keys, and no private part of them, to everybody", async () => {
    const { status, json } = await openPage(oauthPaths.jwks);
    expect(status).toBe(200);
    const keys = json["keys"] as Record<string, unknown>[];
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
  });
});
