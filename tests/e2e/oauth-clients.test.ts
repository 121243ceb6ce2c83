import { oauthPaths } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { basic, createAdmin, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callsServed } from "./support/metrics.ts";
import { adminOf, gatewayUrls, replicasOf, urlOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The tests use OAuth 2.0 clients through several gateways and several replicas of management (spec 000 §5.2).

interface CreatedClient {
  clientId: string;
  clientSecret: string;
}

const path = "oauth2-clients";
/** A change is in effect at every gateway within this time. */
const forgottenMs = 5_000;
let stack: Stack;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: { gateway: 2, management: 2 } });
});
afterAll(() => stack?.stop());

let made = 0;
async function create(scopes: readonly string[]): Promise<CreatedClient> {
  const [client] = await adminOf(stack).post<CreatedClient[]>(path, [{ name: `client ${++made}`, scopes }]);
  if (client === undefined) throw new Error("no client");
  return client;
}

function tokenAnswer({ clientId, clientSecret }: CreatedClient, from = stack.baseUrl): Promise<Response> {
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  return fetch(from + oauthPaths.token, { method: "POST", headers: { authorization: basic(clientId, clientSecret) }, body });
}

/** Gets a token from one replica of management itself, or through a gateway. */
async function tokenOf(client: CreatedClient, from = stack.baseUrl): Promise<string> {
  const answer = await tokenAnswer(client, from);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function statusOf(gateway: string, token: string, requested = "/api/mgmt/v1/targets?limit=1"): Promise<number> {
  const answer = await fetch(gateway + requested, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}

const poll = (gateway: string, token: string, controllerId = "by-client", tenant = "DEFAULT") =>
  statusOf(gateway, token, `/${tenant}/controller/v1/${controllerId}`);

/** Asks every gateway without a pause until each gives this answer: an answer that was on its way during a change must not be cached. */
async function untilEverywhere(status: number, ask: (gateway: string) => Promise<number>): Promise<void> {
  const began = Date.now();
  await Promise.all(
    gatewayUrls(stack).map(async (gateway) => {
      while ((await ask(gateway)) !== status) expect(Date.now() - began).toBeLessThan(forgottenMs);
    }),
  );
  for (let again = 0; again < 20; again += 1) for (const gateway of gatewayUrls(stack)) expect(await ask(gateway)).toBe(status);
}

test("every replica of management signs with the same keys, and every gateway knows them", async () => {
  const client = await create(["READ_TARGET"]);
  const keys = await Promise.all(
    [...replicasOf(stack, "management").map(urlOf), ...gatewayUrls(stack)].map(async (url) => (await fetch(url + oauthPaths.jwks)).json()),
  );
  for (const one of keys) expect(one).toEqual(keys[0]);
  for (const replica of replicasOf(stack, "management")) {
    const token = await tokenOf(client, urlOf(replica));
    for (const gateway of gatewayUrls(stack)) expect(await statusOf(gateway, token)).toBe(200);
  }
});

test("each gateway asks management about a client once", async () => {
  const token = await tokenOf(await create(["READ_TARGET", "device-full-access"]));
  const requested = () => callsServed(replicasOf(stack, "management"), "harrier.management.v1.IdentityService", "signInClient");
  const ask = async () => {
    for (const gateway of gatewayUrls(stack)) expect([await statusOf(gateway, token), await poll(gateway, token)]).toEqual([200, 200]);
  };
  await ask();
  const before = await requested();
  for (let n = 0; n < 10; n += 1) await ask();
  expect(await requested()).toBe(before);
});

test("every gateway denies a deleted client within seconds, on both interfaces", async () => {
  const [gone, stays] = [await create(["READ_TARGET", "device-full-access"]), await create(["READ_TARGET", "device-full-access"])];
  const [token, other] = [await tokenOf(gone), await tokenOf(stays)];
  for (const gateway of gatewayUrls(stack)) {
    for (const one of [token, other]) expect([await statusOf(gateway, one), await poll(gateway, one)]).toEqual([200, 200]);
  }
  await adminOf(stack).call(`${path}/${gone.clientId}`, { method: "DELETE" });
  await Promise.all([untilEverywhere(401, (gateway) => statusOf(gateway, token)), untilEverywhere(401, (gateway) => poll(gateway, token))]);
  for (const gateway of gatewayUrls(stack)) expect([await statusOf(gateway, other), await poll(gateway, other)]).toEqual([200, 200]);
});

test("clients of a suspended tenant are denied by every gateway, on both interfaces and at the token endpoint, until it is resumed", async () => {
  const [{ name, administrator } = { name: "", administrator: { password: "" } }] = await adminOf(stack).post<
    { name: string; administrator: { password: string } }[]
  >("system/tenants", [{ name: uniqueName("suspended"), administrator: { name: "boss" } }]);
  const boss = createAdmin({ baseUrl: stack.baseUrl, user: `${name}\\boss`, password: administrator.password });
  const [client] = await boss.post<CreatedClient[]>(path, [{ name: "its own", scopes: ["READ_TARGET", "device-full-access"] }]);
  const token = await tokenOf(client as CreatedClient);
  const stays = await tokenOf(await create(["READ_TARGET"]));
  const manages = (gateway: string) => statusOf(gateway, token);
  const polls = (gateway: string) => poll(gateway, token, "by-client", name);
  for (const [step, status] of [
    ["suspend", 401],
    ["resume", 200],
  ] as const) {
    for (const gateway of gatewayUrls(stack)) expect([await manages(gateway), await polls(gateway)]).not.toContain(status);
    await adminOf(stack).post(`system/tenants/${name}/${step}`);
    await Promise.all([untilEverywhere(status, manages), untilEverywhere(status, polls)]);
    for (const gateway of gatewayUrls(stack)) expect(await statusOf(gateway, stays)).toBe(200);
    expect((await tokenAnswer(client as CreatedClient)).ok).toBe(status === 200);
  }
});

test("changed scopes limit existing tokens, and so does a changed role", async () => {
  const [role] = await adminOf(stack).post<{ id: number; name: string }[]>("roles", [
    { name: "Nachtschicht 5%", permissions: [{ permission: "READ_TARGET" }] },
  ]);
  const client = await create([`role:${encodeURIComponent("Nachtschicht 5%")}`, "device-full-access"]);
  const token = await tokenOf(client);
  for (const gateway of gatewayUrls(stack)) expect([await statusOf(gateway, token), await poll(gateway, token)]).toEqual([200, 200]);
  await adminOf(stack).call(`roles/${role?.id}/permissions/READ_TARGET`, { method: "DELETE" });
  await untilEverywhere(403, (gateway) => statusOf(gateway, token));
  await adminOf(stack).call(`${path}/${client.clientId}`, { method: "PUT", body: { scopes: ["READ_ROLLOUT"] } });
  await untilEverywhere(401, (gateway) => poll(gateway, token));
});

test("a rotation without time for the old secret ends the tokens too, one with time for it leaves them", async () => {
  const client = await create(["READ_TARGET"]);
  const token = await tokenOf(client);
  for (const gateway of gatewayUrls(stack)) expect(await statusOf(gateway, token)).toBe(200);
  const next = await adminOf(stack).post<CreatedClient>(`${path}/${client.clientId}/secret`, {});
  for (const secret of [client, next]) for (const gateway of gatewayUrls(stack)) await tokenOf(secret, gateway);
  for (const gateway of gatewayUrls(stack)) expect(await statusOf(gateway, token)).toBe(200);
  const last = await adminOf(stack).post<CreatedClient>(`${path}/${client.clientId}/secret`, { previousSecretTtl: 0 });
  await untilEverywhere(401, (gateway) => statusOf(gateway, token));
  expect(await statusOf(stack.baseUrl, await tokenOf(last))).toBe(200);
});

test("a device signs in with its client's token while the replica of management that issued it is down", async () => {
  const token = await tokenOf(await create(["device-full-access"]));
  stack.kill("management", 0);
  for (const gateway of gatewayUrls(stack)) expect(await poll(gateway, token, "with-one-replica")).toBe(200);
  await answering(stack);
});
