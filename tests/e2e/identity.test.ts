import { identityHeader, type KeySet, signIdentity } from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { send } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { administrator, deviceNamed, type IdentityFields, identityOf, keysOf } from "./support/identity.ts";
import { adminOf, allowTargetTokens, replicaOf, urlOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// architecture §2, "Authentication ends at the gateway": what a service accepts instead of a credential

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

/** A request of each service's that succeeds with the right identity, and the path of another route of it. */
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
    sign: (changed: Partial<IdentityFields> = {}) => signIdentity(keys, identityOf(principal, { ...fields, ...changed })),
  };
}

test.each(places)("%s answers who holds an identity for this very request", async (service) => {
  const { ask, sign, fields } = requestTo(service);
  expect((await ask(sign())).status).toBe(200);
  expect((await ask(sign(), `${fields.path}?limit=1`)).status).toBe(200); // the query is not part of it
});

test.each(places)("%s refuses every other identity", async (service) => {
  const { ask, sign, fields, otherPath } = requestTo(service);
  const other = places.find((one) => one !== service) as (typeof places)[number];
  const token = sign();
  const [version = "", key = "", payload = "", signature = ""] = token.split(".");
  const forged = Buffer.from(
    JSON.stringify({ ...(JSON.parse(Buffer.from(payload, "base64url").toString()) as object), n: "OTHER", t: 2 }),
  ).toString("base64url");
  const wrong: Record<string, string | undefined> = {
    none: undefined,
    empty: "",
    nonsense: "v1.k1.nonsense.nonsense",
    expired: sign({ expiresAt: Date.now() - 1 }),
    "too long a life": sign({ expiresAt: Date.now() + 3_600_000 }),
    "another audience, with that audience's key": sign({ audience: other }),
    "another path": sign({ path: `${fields.path}/x` }),
    "another method": sign({ method: "POST" }),
    "another payload": [version, key, forged, signature].join("."),
    "another signature": [version, key, payload, Buffer.from("x".repeat(32)).toString("base64url")].join("."),
    "an unknown key": [version, "k9", payload, signature].join("."),
    "no version": token.slice(3),
  };
  for (const [what, given] of Object.entries(wrong)) {
    const answer = await ask(given);
    expect(answer.status, what).toBe(401);
    expect(answer.body, what).toBeUndefined();
  }
  // right for one request, replayed on another
  expect((await ask(token, otherPath)).status).toBe(401);
});

test("permissions of the identity hold at the owner too", async () => {
  const { fields, ask } = requestTo("management");
  const token = signIdentity(keys, identityOf({ ...administrator, permissions: ["READ_REPOSITORY"] }, fields));
  expect((await ask(token)).status).toBe(403);
});

test("the gateway takes no identity from outside", async () => {
  const device = requestTo("controller");
  const user = requestTo("management");
  for (const { sign, fields } of [device, user]) {
    const answer = await send(stack.baseUrl + fields.path, { headers: { [identityHeader]: sign() } });
    expect(answer.status).toBe(401);
  }
  // nor does one that comes along make a device another one
  const strange = signIdentity(keys, identityOf(deviceNamed("somebody-else"), device.fields));
  const answer = await send<{ config: object }>(stack.baseUrl + device.fields.path, {
    headers: { authorization: `TargetToken ${securityToken}`, [identityHeader]: strange, "x-harrier-budget": "1" },
  });
  expect(answer.status).toBe(200);
});
