import { identityHeader, identityLifeMs, type KeySet, signIdentity } from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { send, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { administrator, deviceNamed, type IdentityFields, identityOf, keysOf, signedHeaders } from "./support/identity.ts";
import { adminOf, allowTargetTokens, replicaOf, urlOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// The tests check what a service accepts in place of a credential (architecture §2, "Authentication ends at the gateway").

let stack: Stack;
let keys: KeySet;
let controllerId: string;
let securityToken: string;
let download: string;

beforeAll(async () => {
  stack = await startAnsweringStack();
  keys = keysOf(stack);
  const api = adminOf(stack);
  await allowTargetTokens(stack);
  ({ controllerId, securityToken } = await api.createTarget());
  const { module, artifact } = await api.createSetWithFile();
  download = `/api/mgmt/v1/softwaremodules/${module.id}/artifacts/${artifact.id}/download`;
});
afterAll(() => stack?.stop());

const places = ["controller", "management", "artifact-store", "rollout-engine"] as const;

/** Makes a request of each service that succeeds with the right identity, and the path of another route of it. */
function requestTo(service: (typeof places)[number]) {
  const principal = service === "controller" ? deviceNamed(controllerId) : administrator;
  const path = {
    controller: `/DEFAULT/controller/v1/${controllerId}`,
    management: "/api/mgmt/v1/targets",
    "artifact-store": download,
    "rollout-engine": "/rest/v1/rollouts",
  }[service];
  const otherPath = {
    controller: "/DEFAULT/controller/v1/somebody-else",
    management: "/api/mgmt/v1/distributionsets",
    "artifact-store": download.replace(/\d+(?=\/download)/, "4711"),
    "rollout-engine": "/rest/v1/rollouts/11",
  }[service];
  const fields: IdentityFields = { audience: service, method: "GET", path };
  const ask = (token: string | undefined, at = path) =>
    send(urlOf(replicaOf(stack, service)) + at, { headers: token === undefined ? {} : { [identityHeader]: token } });
  return {
    fields,
    otherPath,
    ask,
    /** Signs as the gateway does, with delegations for the services that are called next. */
    rightly: (changed: Partial<IdentityFields> = {}) =>
      send(urlOf(replicaOf(stack, service)) + (changed.path ?? path), {
        headers: signedHeaders(keys, principal, { ...fields, ...changed }),
      }),
    sign: (changed: Partial<IdentityFields> = {}) => signIdentity(keys, identityOf(principal, { ...fields, ...changed })),
  };
}

test.each(places)("%s answers a request with an identity for this very request", async (service) => {
  const { rightly, fields } = requestTo(service);
  expect((await rightly()).status).toBe(200);
  expect((await rightly({ path: `${fields.path}?limit=1&x=a%20b` })).status).toBe(200);
});

test.each(places)("%s denies every other identity, and never says that it is the client's fault", async (service) => {
  const { ask, sign, fields, otherPath } = requestTo(service);
  const other = places.find((one) => one !== service) as (typeof places)[number];
  const token = sign();
  const [version = "", caller = "", key = "", payload = "", signature = ""] = token.split(".");
  const forged = Buffer.from(
    JSON.stringify({ ...(JSON.parse(Buffer.from(payload, "base64url").toString()) as object), n: "OTHER", t: 2 }),
  ).toString("base64url");
  const wrong: Record<string, string | undefined> = {
    none: undefined,
    empty: "",
    nonsense: "v3.gateway.k1.nonsense.nonsense",
    "five minutes old": sign({ expiresAt: Date.now() - 280_000 }),
    "five minutes early": sign({ expiresAt: Date.now() + 320_000 }),
    "too long a life": sign({ expiresAt: Date.now() + 3_600_000 }),
    "another audience, with that audience's key": sign({ audience: other }),
    "another path": sign({ path: `${fields.path}/x` }),
    "another query": sign({ path: `${fields.path}?limit=1` }),
    "another method": sign({ method: "POST" }),
    "a body": sign({ body: "AAAA" }),
    "another payload": [version, caller, key, forged, signature].join("."),
    "another signature": [version, caller, key, payload, Buffer.from("x".repeat(32)).toString("base64url")].join("."),
    "another caller": [version, "controller", key, payload, signature].join("."),
    "an unknown key": [version, caller, "k9", payload, signature].join("."),
    "no version": token.slice(3),
  };
  const isTransfer = service === "artifact-store"; // The bodies of this service are not part of the signature.
  for (const [what, given] of Object.entries(wrong)) {
    if (what === "a body" && isTransfer) continue;
    const answer = await ask(given);
    expect([what, answer.status]).toEqual([what, 503]);
  }
  // The identity is right for one request, and is replayed on another.
  expect((await ask(token, otherPath)).status).toBe(503);
  expect((await ask(token, `${fields.path}?limit=1`)).status).toBe(503);
});

test.each(places)("%s accepts requests to routes only from the gateway, whatever keys another service has", async (service) => {
  const { ask, fields } = requestTo(service);
  const principal = service === "controller" ? deviceNamed(controllerId) : administrator;
  for (const holder of ["management", "controller", "artifact-store", "rollout-engine"] as const) {
    // A service holds the gateway's key with itself, to verify: it can deceive itself only.
    if (holder === service) continue;
    const own = keysOf(stack, holder);
    for (const [pair, keyRing] of own) {
      const honest = signIdentity(
        own,
        identityOf(principal, { ...fields, audience: pair.split("/")[1] as typeof service, caller: pair.split("/")[0] as typeof service }),
      );
      const asGateway = signIdentity(new Map([[`gateway/${service}`, keyRing]]) as unknown as KeySet, identityOf(principal, fields));
      for (const token of [honest, asGateway]) expect((await ask(token)).status, `${holder} with ${pair}`).toBe(503);
    }
  }
});

test.each([7, -7, 35, -35])("an identity of a gateway whose clock is %d s off is accepted", async (seconds) => {
  for (const service of places) {
    const { rightly } = requestTo(service);
    expect((await rightly({ expiresAt: Date.now() + seconds * 1_000 + identityLifeMs })).status, service).toBe(200);
  }
});

test("a change is done once, with the body that was signed", async () => {
  const url = urlOf(replicaOf(stack, "management"));
  const path = "/api/mgmt/v1/targettypes";
  const typeNamed = (name: string) => Buffer.from(JSON.stringify([{ name, key: name }]));
  const [signed, other] = [uniqueName("signed"), uniqueName("other")].map(typeNamed) as [Buffer, Buffer];
  const capture = (content: Buffer) => ({
    ...signedHeaders(keys, administrator, { audience: "management", method: "POST", path, content }),
    "content-type": "application/json",
  });
  const post = async (headers: Record<string, string>, body: Buffer, query = "") =>
    (await fetch(`${url}${path}${query}`, { method: "POST", headers, body })).status;
  expect(await post(capture(signed), other)).toBe(503);
  expect(await post(capture(signed), signed, "?offline=true")).toBe(503);
  expect(await post(capture(Buffer.alloc(0)), other)).toBe(503);
  const captured = capture(signed);
  expect(await post(captured, signed)).toBe(201);
  expect(await post(captured, signed)).toBe(503);
  // Another request of the same content is another change: it is done, and rejected for its content.
  expect(await post(capture(signed), signed)).toBe(409);
});

test("the owner checks the permissions of the identity too", async () => {
  const { fields, ask } = requestTo("management");
  const token = signIdentity(keys, identityOf({ ...administrator, permissions: ["READ_REPOSITORY"] }, fields));
  expect((await ask(token)).status).toBe(403);
});

test("the gateway accepts no identity from outside", async () => {
  const device = requestTo("controller");
  const user = requestTo("management");
  for (const { sign, fields } of [device, user]) {
    const answer = await send(stack.baseUrl + fields.path, { headers: { [identityHeader]: sign() } });
    expect(answer.status).toBe(401);
  }
  // An identity that a request brings does not make the device another one.
  const strange = signIdentity(keys, identityOf(deviceNamed("somebody-else"), device.fields));
  const answer = await send<{ config: object }>(stack.baseUrl + device.fields.path, {
    headers: { authorization: `TargetToken ${securityToken}`, [identityHeader]: strange, "x-harrier-budget": "1" },
  });
  expect(answer.status).toBe(200);
});
