import { expect, test, vi } from "vitest";
import { PrincipalCache } from "../principal-cache.ts";
import { authenticateClient, authenticateDeviceClient } from "./authenticate-client.ts";

const answer = {
  ok: true,
  tenantId: 7,
  tenant: "ACME",
  permissions: ["READ_REPOSITORY"],
  targetTypeScopes: { READ_TARGET: { ids: [11] } },
  devices: true,
  revision: 100,
  userId: -12,
};
const request = { rid: "r", deadline: 0 };
const poll = { ...request, tenant: "acme", controllerId: "d1" };
const device = {
  tenantId: 7,
  tenant: "ACME",
  kind: "device",
  subject: "client oc_7_12",
  external: true,
  controllerId: "d1",
  permissions: ["REGISTER_TARGET"],
};

function setUp() {
  const cache = new PrincipalCache({ ttlSeconds: 300 });
  cache.streamAlive();
  const signInClient = vi.fn(async () => answer);
  const verify = (token: string) =>
    token === "foreign" ? undefined : { clientId: "oc_7_12", scopes: ["s"], generation: 1, meaning: token, expiresAt: 0 };
  const deps = { own: { verify }, cache, signInClient };
  return {
    cache,
    signInClient,
    ask: async (token: string) => authenticateClient(deps, { ...request, token }),
    poll: async (token: string, more: object = {}) => authenticateDeviceClient(deps, { ...poll, ...more, token }),
  };
}

test("a client is no user of the tenant, whatever its name", async () => {
  const { ask, signInClient } = setUp();
  expect(await ask("t")).toEqual({
    tenantId: 7,
    tenant: "ACME",
    kind: "user",
    subject: "oc_7_12",
    external: true,
    permissions: ["READ_REPOSITORY", "READ_TARGET"],
    targetTypeScopes: { READ_TARGET: [11] },
  });
  await ask("t");
  expect(signInClient).toHaveBeenCalledTimes(1);
  expect(signInClient).toHaveBeenCalledWith({ clientId: "oc_7_12", scopes: ["s"], generation: 1 }, expect.anything());
  expect(await ask("foreign")).toBeUndefined();
});

test("with the scope for it a client authenticates every device of its tenant, and none of another", async () => {
  const { poll, signInClient } = setUp();
  expect(await poll("t")).toEqual(device);
  expect(await poll("t", { controllerId: "d2" })).toEqual({ ...device, controllerId: "d2" });
  expect(signInClient).toHaveBeenCalledTimes(1);
  await expect(poll("t", { tenant: "OTHER" })).rejects.toMatchObject({ code: "unauthenticated" });
  expect(await poll("foreign")).toBeUndefined();
});

test("without that scope a client authenticates no device", async () => {
  const { poll, signInClient } = setUp();
  signInClient.mockResolvedValue({ ...answer, devices: false });
  for (const _ of [1, 2]) await expect(poll("t")).rejects.toMatchObject({ code: "unauthenticated" });
});

test.each([
  ["of the client", { tenantId: 7, userId: -12, revision: 101 }, 2],
  ["of all of the tenant", { tenantId: 7, userId: 0, revision: 101 }, 2],
  ["of a user of that number", { tenantId: 7, userId: 12, revision: 101 }, 1],
])("after a change %s", async (_what, change, requested) => {
  const { ask, cache, signInClient } = setUp();
  await ask("t");
  cache.forget(change);
  await ask("t");
  expect(signInClient).toHaveBeenCalledTimes(requested);
});

test("a deleted client cannot sign in", async () => {
  const { ask, poll, signInClient } = setUp();
  signInClient.mockResolvedValue({ ...answer, ok: false });
  await expect(ask("t")).rejects.toMatchObject({ code: "unauthenticated" });
  await expect(poll("t")).rejects.toMatchObject({ code: "unauthenticated" });
});
