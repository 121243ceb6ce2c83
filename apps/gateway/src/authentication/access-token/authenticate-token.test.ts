import { expect, test, vi } from "vitest";
import { PrincipalCache } from "../principal-cache.ts";
import { authenticateDeviceToken, authenticateToken } from "./authenticate-token.ts";

const answer = {
  ok: true,
  tenantId: 7,
  tenant: "ACME",
  permissions: ["READ_REPOSITORY"],
  targetTypeScopes: { READ_TARGET: { ids: [11] } },
  devices: false,
  revision: 100,
  userId: 0,
};
const request = { rid: "r", deadline: 0 };

function setUp() {
  const cache = new PrincipalCache({ ttlSeconds: 300 });
  cache.streamAlive();
  const resolveToken = vi.fn(async () => answer);
  // A token is its own meaning here: "ann/1" and "ann/2" have the same claims.
  const verify = (token: string) => {
    const [user = ""] = token.split("/");
    return { tenant: "acme", subject: user, user, scopes: ["operator"], issuer: "https://login.example.com", meaning: user, expiresAt: 0 };
  };
  const deps = { tokens: { verify }, cache, resolveToken };
  const ask = (token: string) => authenticateToken(deps, { ...request, token });
  const poll = (token: string, tenant = "acme", controllerId = "d1") =>
    authenticateDeviceToken(deps, { ...request, token, tenant, controllerId });
  return { cache, resolveToken, ask, poll };
}

test("the principal of a token, and that an issuer's user is no user of the tenant with that name", async () => {
  expect(await setUp().ask("ann/1")).toEqual({
    tenantId: 7,
    tenant: "ACME",
    kind: "user",
    subject: "ann",
    external: true,
    issuer: "https://login.example.com",
    permissions: ["READ_REPOSITORY", "READ_TARGET"],
    targetTypeScopes: { READ_TARGET: [11] },
  });
});

test("the principal of a token names the user of the tenant whose permissions it has", async () => {
  const { ask, resolveToken } = setUp();
  resolveToken.mockResolvedValue({ ...answer, userId: 12 });
  expect(await ask("ann/1")).toMatchObject({ subject: "ann", external: true, userId: 12 });
});

test("management is asked once for tokens with the same claims, and later answers come at once", async () => {
  const { ask, resolveToken } = setUp();
  await ask("ann/1");
  expect(ask("ann/1")).toMatchObject({ subject: "ann" });
  expect(ask("ann/2")).toMatchObject({ subject: "ann" });
  await ask("bob/1");
  expect(resolveToken).toHaveBeenCalledTimes(2);
  expect(resolveToken).toHaveBeenLastCalledWith({ tenant: "acme", user: "bob", scopes: ["operator"] }, expect.anything());
});

test.each([
  ["of the tenant", { tenantId: 7, userId: 0, revision: 101 }, 2],
  ["of another tenant", { tenantId: 8, userId: 0, revision: 101 }, 1],
  ["of a user with a password", { tenantId: 7, userId: 12, revision: 101 }, 1],
])("after a change %s", async (_, change, requested) => {
  const { ask, cache, resolveToken } = setUp();
  await ask("ann/1");
  cache.forget(change);
  await ask("ann/1");
  expect(resolveToken).toHaveBeenCalledTimes(requested);
});

test("a token of an unknown or suspended tenant is denied", async () => {
  const { ask, resolveToken } = setUp();
  resolveToken.mockResolvedValue({ ...answer, ok: false });
  for (const _ of [1, 2]) await expect(ask("ann/1")).rejects.toMatchObject({ code: "unauthenticated" });
});

test("device-full-access authenticates every device of its tenant, and management is asked once", async () => {
  const { poll, resolveToken } = setUp();
  resolveToken.mockResolvedValue({ ...answer, devices: true });
  const first = await poll("ann/1");
  expect(first).toEqual({
    tenantId: 7,
    tenant: "ACME",
    kind: "device",
    subject: "token ann",
    external: true,
    controllerId: "d1",
    permissions: ["REGISTER_TARGET"],
  });
  expect(poll("ann/1", "Acme", "d2")).toEqual({ ...first, controllerId: "d2" });
  expect(resolveToken).toHaveBeenCalledTimes(1);
  expect(() => poll("ann/1", "OTHER")).toThrow(expect.objectContaining({ code: "unauthenticated" }));
});

test("without it a token authenticates no device, and with it alone no user with permissions", async () => {
  const { ask, poll, resolveToken } = setUp();
  for (const _ of [1, 2]) await expect(poll("ann/1")).rejects.toMatchObject({ code: "unauthenticated" });
  resolveToken.mockResolvedValue({ ...answer, permissions: [], targetTypeScopes: {} as never, devices: true });
  await poll("bob/1");
  expect(await ask("bob/1")).toMatchObject({ kind: "user", permissions: [] });
});
