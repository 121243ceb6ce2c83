import { afterEach, expect, it } from "vitest";
import { call, cleanUp, connect, delegationOf, failure, force, keys, secret, serve } from "../test-support/actions.ts";
import { type Principal, servicePrincipal, unboundBody } from "./identity.ts";
import { identityHeaders } from "./identity-headers.ts";
import { parseKeys } from "./keys.ts";
import { onBehalfHeader } from "./on-behalf.ts";
import type { ServiceName } from "./services.ts";
import type { CallContext } from "./types.ts";

afterEach(cleanUp);

const admin: Principal = { tenantId: 1, tenant: "DEFAULT", kind: "user", subject: "admin", permissions: ["UPDATE_TARGET"] };

it("passes on the user whom the gateway has authenticated, whatever permissions the caller claims", async () => {
  let ctx: CallContext | undefined;
  const forceAction = async (_request: object, given: CallContext) => {
    ctx = given;
    return {};
  };
  const [, port] = await serve({ forceAction });
  const scoped = { ...admin, external: true as const, targetTypeScopes: { UPDATE_TARGET: [11] } };
  const bolder = { ...admin, permissions: ["SYSTEM_ADMIN"] };
  await connect([port]).forceAction(force, call({ principal: bolder, onBehalf: delegationOf(scoped, "r-1") }));
  expect(ctx?.principal).toMatchObject(scoped);
});

it.each<[string, Parameters<typeof call>[0]]>([
  ["without the gateway's word", { onBehalf: undefined as never }],
  ["for another person", { principal: { ...admin, subject: "root" }, onBehalf: delegationOf(admin, "r-1") }],
  ["for another tenant", { principal: { ...admin, tenantId: 2 }, onBehalf: delegationOf(admin, "r-1") }],
  ["for another request", { onBehalf: delegationOf(admin, "r-2") }],
  ["with the word that another service got", { onBehalf: delegationOf(admin, "r-1", "rollout-engine") }],
  ["as a device", { principal: { ...admin, kind: "device", controllerId: "d1" } }],
  [
    "with a word that it made itself",
    { onBehalf: { ...delegationOf(admin, "r-1"), delegations: `${Date.now() + 9_000};controller=k1.${"A".repeat(43)}` } },
  ],
  ["in the name of another service", { principal: servicePrincipal("rollout-engine") }],
])("refuses a call %s", async (_what, more) => {
  const [, port] = await serve({ forceAction: async () => ({}) });
  const code = (await failure(connect([port]).forceAction(force, call(more)))).code;
  expect(code).toBe(more?.principal?.kind === "service" ? "insufficientPermission" : "identityRefused");
});

it("refuses a delegation whose audience, expiry or payload was changed", async () => {
  const [, port] = await serve({ forceAction: async () => ({}) });
  const client = connect([port]);
  const { payload, delegations } = delegationOf(admin, "r-1");
  const forged = Buffer.from(Buffer.from(payload, "base64url").toString().replace("UPDATE_TARGET", "SYSTEM_ADMINX")).toString("base64url");
  const later = delegations.replace(/^\d+/, (end) => String(Number(end) + 1));
  for (const onBehalf of [
    { payload: forged, delegations },
    { payload, delegations: later },
    { payload, delegations: delegations.replace("=k1.", "=k9.") },
  ])
    expect((await failure(client.forceAction(force, call({ onBehalf })))).code).toBe("identityRefused");
  expect(await client.forceAction(force, call())).toEqual({});
});

it("expires soon for an answer, an hour later for an import, half a day later for an upload", () => {
  const all = parseKeys(["controller", "management", "artifact-store"].map((to) => `gateway/${to}=k1:${secret("a")}`).join(";"));
  const at = { method: "POST", path: "/", caller: "gateway", expiresAt: 1_800_000_000_000, rid: "r-1", baseUrl: "" } as const;
  const lifeOf = (audience: ServiceName, content?: typeof unboundBody) =>
    Number.parseInt(identityHeaders(all, { ...admin, ...at, audience }, content)[onBehalfHeader] ?? "", 10) - at.expiresAt;
  expect(lifeOf("management")).toBe(60_000);
  expect(lifeOf("management", unboundBody)).toBe(3_600_000);
  expect(lifeOf("artifact-store", unboundBody)).toBe(12 * 3_600_000);
});

it("allows a caller to act as itself only as the table says", async () => {
  const [, port] = await serve({ cancelSetChunk: async () => ({ done: true }), forceAction: async () => ({}) });
  const principal = servicePrincipal("management", { id: 1, name: "DEFAULT" });
  expect(await connect([port]).cancelSetChunk({ setId: 1 }, call({ principal }))).toMatchObject({ done: true });
  expect((await failure(connect([port]).forceAction(force, call({ principal })))).code).toBe("insufficientPermission");
  expect((await failure(connect([port]).cancelSetChunk({ setId: 1 }, call()))).code).toBe("insufficientPermission");
});

it("refuses a service that uses the keys of another pair", async () => {
  const [, port] = await serve({ startChunk: async () => ({ done: true }) });
  // this is management's own key under rollout-engine's name
  const own = parseKeys(`rollout-engine/controller=k1:${secret("b")}`);
  const principal = servicePrincipal("rollout-engine", { id: 1, name: "DEFAULT" });
  const client = (given: typeof keys) => connect([port], { caller: "rollout-engine", keys: given });
  expect((await failure(client(own).startChunk({ rolloutId: 1 }, call({ principal })))).code).toBe("identityRefused");
  expect(await client(keys).startChunk({ rolloutId: 1 }, call({ principal }))).toMatchObject({ done: true });
});
