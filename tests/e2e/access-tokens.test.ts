import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import type { Stack } from "@harrier/stack";
import { eventually, type OidcProvider, type OidcUser, startOidcProvider, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callsServed } from "./support/metrics.ts";
import { adminOf, basicOf, gatewayUrls, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// Users sign in by access tokens of a real provider, through two gateways and two replicas of management (spec 000 §5.1).

/** Every gateway knows any change within this time. */
const heardMs = 5_000;
const users: OidcUser[] = [
  { name: "ann", roles: ["openid", "operator"], tenant: "DEFAULT" },
  { name: "boss", roles: ["SYSTEM_ADMIN"], tenant: "default" },
  { name: "reader", roles: ["READ_TARGET"], tenant: "DEFAULT" },
  { name: "nobody", roles: ["role:unknown"], tenant: "DEFAULT" },
  { name: "stranger", roles: ["management-full-access"], tenant: "NOWHERE" },
  { name: "other", roles: ["management-full-access", "operator"], tenant: "OTHER" },
  { name: "admin", roles: [], tenant: "DEFAULT" },
  { name: "machine", roles: ["device-full-access"], tenant: "DEFAULT" },
];

let stack: Stack;
let provider: OidcProvider;
let elsewhere: OidcProvider;
/** This server accepts connections and never answers. */
const silent = createServer();
const silentIssuer = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  provider = await startOidcProvider({ users });
  elsewhere = await startOidcProvider({ users, audience: "something else" });
  const issuers = [
    { issuer: provider.issuer, audience: "harrier" },
    { issuer: elsewhere.issuer, audience: "harrier" },
    { issuer: silentIssuer(), audience: "harrier" },
  ];
  const gateway = { HARRIER_OIDC_ISSUERS: JSON.stringify(issuers) };
  stack = await startAnsweringStack({ replicas: { gateway: 2, management: 2 }, gateway });
  await withClient(stack.databaseUrls.management, (db) =>
    db.query("insert into tenants (tenant_id, name, default_set_type_id) values (4711, 'OTHER', 13)"),
  );
});
afterAll(async () => {
  await stack?.stop();
  await provider?.stop();
  await elsewhere?.stop();
  silent.close();
});

interface Answer {
  status: number;
  challenge: string | null;
  text: string;
}

async function ask(authorization: string, path = "targets", gateway = stack.baseUrl): Promise<Answer> {
  const answer = await fetch(`${gateway}/api/mgmt/v1/${path}`, { headers: { authorization } });
  return { status: answer.status, challenge: answer.headers.get("www-authenticate"), text: await answer.text() };
}
const bearer = async (name: string) => `Bearer ${await provider.signIn(name)}`;
const statuses = (authorization: string, path?: string) =>
  Promise.all(gatewayUrls(stack).map(async (gateway) => (await ask(authorization, path, gateway)).status));
const everywhere = (status: number) => gatewayUrls(stack).map(() => status);
const resolved = () => callsServed(replicasOf(stack, "management"), "harrier.management.v1.IdentityService", "resolveToken");

/** Waits until every gateway gives this answer, and checks that it stays so: an answer that was on its way during the change must not be cached. */
async function becomes(authorization: string, status: number, path?: string): Promise<void> {
  await eventually(async () => expect(await statuses(authorization, path)).toEqual(everywhere(status)), heardMs, 20);
  for (let n = 0; n < 10; n += 1) expect(await statuses(authorization, path)).toEqual(everywhere(status));
}

test("scopes name roles and permissions of the tenant; a request that none of them allows is 403", async () => {
  const ann = await bearer("ann");
  await becomes(ann, 403);
  const admin = adminOf(stack);
  const [role] = await admin.post<{ id: number }[]>("roles", [{ name: "operator", permissions: [{ permission: "READ_TARGET" }] }]);
  await becomes(ann, 200);
  expect(JSON.parse((await ask(ann, "userinfo")).text)).toMatchObject({
    tenant: "DEFAULT",
    username: "ann",
    kind: "user",
    issuer: provider.issuer,
  });
  expect(await statuses(ann, "distributionsets")).toEqual(everywhere(403));
  await admin.call(`roles/${role?.id}/permissions/READ_TARGET`, { method: "DELETE" });
  await becomes(ann, 403);
  await admin.post(`roles/${role?.id}/permissions`, ["READ_TARGET", "READ_REPOSITORY"]);
  await becomes(ann, 200, "distributionsets");
  await admin.call(`roles/${role?.id}`, { method: "DELETE" });
  await becomes(ann, 403, "distributionsets");

  expect(await statuses(await bearer("reader"))).toEqual(everywhere(200));
  expect(await statuses(await bearer("boss"), "users")).toEqual(everywhere(200));
  expect(await statuses(await bearer("nobody"))).toEqual(everywhere(403));
  expect(await statuses(await bearer("nobody"), "userinfo")).toEqual(everywhere(200));
});

test("a role restricted to target types also restricts users who have it by a token", async () => {
  const admin = adminOf(stack);
  await withClient(stack.databaseUrls.management, (db) =>
    db.query(
      `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by)
       select 1, n, 'type' || n, 'type' || n, 'test', 'test' from generate_series(901, 902) n`,
    ),
  );
  await admin.post("targets", [
    { controllerId: "of-901", targetType: 901 },
    { controllerId: "of-902", targetType: 902 },
  ]);
  await admin.post("roles", [{ name: "operator", permissions: [{ permission: "READ_TARGET", targetTypeScopes: [901] }] }]);
  const ann = await bearer("ann");
  await becomes(ann, 200);
  const { content } = JSON.parse((await ask(ann)).text) as { content: { controllerId: string }[] };
  expect(content.map(({ controllerId }) => controllerId)).toEqual(["of-901"]);
  expect((await ask(ann, "targets/of-902")).status).toBe(404);
});

test("a user created without a password keeps its permissions with a token; one with a password is a different user", async () => {
  const admin = adminOf(stack);
  const nobody = await bearer("nobody");
  await becomes(nobody, 403);
  const [user] = await admin.post<{ id: number }[]>("users", [{ name: "nobody", permissions: ["READ_TARGET"] }]);
  await becomes(nobody, 200);
  await admin.call(`users/${user?.id}`, { method: "DELETE" });
  await becomes(nobody, 403);
  expect(await statuses(await bearer("admin"))).toEqual(everywhere(403));
});

test("a known token needs no call, nor does a new token with the same claims", async () => {
  const reader = await bearer("reader");
  await becomes(reader, 200);
  const before = await resolved();
  const again = await bearer("reader");
  expect(again).not.toBe(reader);
  for (let n = 0; n < 20; n += 1) {
    for (const token of [reader, again]) expect(await statuses(token)).toEqual(everywhere(200));
  }
  expect(await resolved()).toBe(before);
});

test("a token of one tenant reaches nothing of another, whatever its role", async () => {
  await adminOf(stack).post("targets", [{ controllerId: "of-default" }]);
  const other = await bearer("other");
  await becomes(other, 200);
  expect(JSON.parse((await ask(other)).text)).toMatchObject({ total: 0 });
  expect((await ask(other, "targets/of-default")).status).toBe(404);
  expect(JSON.parse((await ask(other, "roles?q=name==operator")).text)).toMatchObject({ total: 0 });
});

test("nobody signs in to a suspended tenant, but to a resumed one", async () => {
  const other = await bearer("other");
  await becomes(other, 200);
  await adminOf(stack).post("system/tenants/OTHER/suspend");
  await becomes(other, 401);
  await adminOf(stack).post("system/tenants/OTHER/resume");
  await becomes(other, 200);
});

test("device-full-access authenticates every device of its tenant, on the device interface only", async () => {
  const machine = await bearer("machine");
  const poll = async (path: string, authorization: string) => {
    const answer = await fetch(`${stack.baseUrl}/${path}`, { headers: { authorization } });
    await answer.arrayBuffer();
    return [answer.status, answer.headers.get("www-authenticate")];
  };
  expect(await poll("DEFAULT/controller/v1/by-token-1", machine)).toEqual([200, null]);
  expect(await poll("default/controller/v1/by-token-2", machine)).toEqual([200, null]);
  expect(await poll("OTHER/controller/v1/by-token-1", machine)).toEqual([401, "ApiKey"]);
  expect(await poll("DEFAULT/controller/v1/by-token-1", await bearer("boss"))).toEqual([401, "ApiKey"]);
  expect((await ask(machine)).status).toBe(403);
});

test("the answer does not show what is wrong with a token", async () => {
  const token = await provider.signIn("boss");
  const [header = "", payload = "", signature = ""] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const table = {
    tampered: `${header}.${encode({ ...claims, tenant: "OTHER" })}.${signature}`,
    unsigned: `${encode({ alg: "none" })}.${payload}.`,
    "of another issuer": `${header}.${encode({ ...claims, iss: elsewhere.issuer })}.${signature}`,
    "for another audience": await elsewhere.signIn("boss"),
    "of an unknown tenant": await provider.signIn("stranger"),
    "no token": "x",
    "over-long": `${header}.${payload}.${"A".repeat(9_000)}`,
  };
  const refused = { status: 401, challenge: 'Bearer error="invalid_token"', text: "" };
  for (const [what, wrong] of Object.entries(table)) {
    for (const gateway of gatewayUrls(stack)) expect(await ask(`Bearer ${wrong}`, "targets", gateway), what).toEqual(refused);
  }
  expect(await statuses(`Bearer ${token}`)).toEqual(everywhere(200));
});

test("of two Authorization headers the first counts", async () => {
  const [good, bad] = [await bearer("boss"), "Bearer a.b.c"];
  const both = (...headers: string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const raw = ["host", new URL(stack.baseUrl).host, ...headers.flatMap((value) => ["authorization", value])];
      const requested = request(`${stack.baseUrl}/api/mgmt/v1/targets`, { headers: raw }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      requested.once("error", reject).end();
    });
  expect(await both(good, bad)).toBe(200);
  expect(await both(bad, good)).toBe(401);
});

test("an issuer that never answers is 503 within seconds, and delays no other request", async () => {
  const [, payload = ""] = (await provider.signIn("boss")).split(".");
  const claims = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), iss: silentIssuer() };
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: "k" })).toString("base64url");
  const lost = statuses(`Bearer ${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.AAAA`);
  let answered = 0;
  void lost.then(() => {
    answered += 1;
  });
  expect(await statuses(await bearer("other"))).toEqual(everywhere(200));
  expect(await statuses(basicOf(stack))).toEqual(everywhere(200));
  expect(answered).toBe(0);
  expect(await lost).toEqual(everywhere(503));
});

test("while the issuer is unreachable its keys stay valid; a new key is known within seconds", async () => {
  const before = await bearer("reader");
  const unseen = await bearer("boss");
  expect(await statuses(before)).toEqual(everywhere(200));
  provider.setDown(true);
  expect(await statuses(before)).toEqual(everywhere(200));
  expect(await statuses(unseen)).toEqual(everywhere(200));
  provider.setDown(false);
  provider.rotateKeys();
  const after = await bearer("boss");
  // A gateway that has just asked for an unknown key does not ask again at once.
  await eventually(async () => expect(await statuses(after)).toEqual(everywhere(200)), 10_000);
});
