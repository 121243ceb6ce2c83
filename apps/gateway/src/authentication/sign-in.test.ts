import { HarrierError } from "@harrier/errors";
import { beforeEach, expect, test, vi } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { SignInFailures } from "../limits/sign-in-failures.ts";
import type { DeviceScheme } from "./device-cache.ts";
import { DeviceCache } from "./device-cache.ts";
import { PrincipalCache } from "./principal-cache.ts";
import { type SignInDeps, signIn } from "./sign-in.ts";

const resolved = { ok: true, tenantId: 7, tenant: "ACME", permissions: [], targetTypeScopes: {}, devices: true, revision: 1, userId: 0 };
const token = { tenant: "ACME", subject: "ann", user: "ann", scopes: [], issuer: "i", meaning: "m", expiresAt: 0 };
const certificates = [{ name: "d1", issuers: "i" }];

let known: DeviceScheme[];
let deps: SignInDeps;
beforeEach(() => {
  known = [];
  deps = {
    devices: new DeviceCache({ ttlSeconds: 300, now: Date.now }),
    principals: new PrincipalCache({ ttlSeconds: 300 }),
    tokens: {
      verify(text) {
        if (text !== "a.b.c") throw new HarrierError("unauthenticated");
        return token;
      },
    },
    uses: { record: () => undefined },
    verifyDevice: async ({ scheme }) => ({
      ok: known.includes(scheme as DeviceScheme),
      tenantId: 7,
      tenant: "ACME",
      subject: "d1",
      revision: 1,
      expiresAt: 0,
    }),
    sessions: { authenticate: () => Promise.reject(new HarrierError("unauthenticated")) },
    signIn: vi.fn(),
    resolveToken: async () => resolved,
    failures: new SignInFailures({
      limits: { account: 10, user: 10, address: 10, deviceAddress: 10 },
      exempt: new AddressList("none"),
      now: Date.now,
    }),
    limiter: { run: (_names, work) => work() },
    now: Date.now,
    sleep: async () => undefined,
    own: { verify: (text) => (text === "own" ? { clientId: "oc_7_1", scopes: [], generation: 1, meaning: "o", expiresAt: 0 } : undefined) },
    signInClient: async () => resolved,
  };
});

const ask = async (authorization: string, more: object = {}) => {
  const [params, route] = [{ tenant: "acme", controllerId: "d1" }, { interface: "device" }] as const;
  return signIn(deps, { route, params, authorization, client: { address: "203.0.113.7", hidden: false }, rid: "r", deadline: 0, ...more });
};
const refused = { code: "unauthenticated" };

test("a client of our own token endpoint signs in on both interfaces", async () => {
  expect(await ask("Bearer own")).toMatchObject({ kind: "device", controllerId: "d1", subject: "client oc_7_1" });
  expect(await ask("Bearer own", { route: { interface: "management" } })).toMatchObject({ kind: "user", subject: "oc_7_1" });
});

test("a device signs in by token on its own interface only", async () => {
  expect(await ask("Bearer a.b.c")).toMatchObject({ kind: "device", controllerId: "d1" });
  expect(await ask("bearer a.b.c", { route: { interface: "management" } })).toMatchObject({ kind: "user", subject: "ann" });
  await expect(ask("Bearer a.b.x")).rejects.toMatchObject(refused);
  await expect(ask("Bearer a.b.c", { params: { tenant: "OTHER", controllerId: "d1" } })).rejects.toMatchObject(refused);
});

test("the first valid credential counts: a certificate before a token, and an invalid one does not end the chain", async () => {
  expect(await ask("Bearer a.b.c", { certificates })).toMatchObject({ subject: "token ann" });
  known = ["Certificate"];
  expect((await ask("Bearer a.b.c", { certificates })).subject).not.toBe("token ann");
  await expect(ask("Bearer a.b.x", { certificates })).resolves.toMatchObject({ kind: "device" });
});

test("an unavailable service is not a failed sign-in", async () => {
  deps.verifyDevice = () => Promise.reject(new HarrierError("unavailable"));
  await expect(ask("Bearer a.b.c", { certificates })).rejects.toMatchObject({ code: "unavailable" });
});
