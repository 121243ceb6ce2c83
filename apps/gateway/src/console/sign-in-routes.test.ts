import { parseKeys } from "@harrier/rpc";
import { expect, test } from "vitest";
import { parseIssuers } from "../authentication/access-token/issuers.ts";
import { Transactions } from "../authentication/authorization-code/transaction.ts";
import { targetOf } from "./sign-in-routes.ts";

test.each([
  [null, "/console/"],
  ["/rollouts/5?tab=a#b", "/console/rollouts/5?tab=a#b"],
  ["/console/rollouts/5", "/console/rollouts/5"],
  ["https://evil.example", "/console/"],
  ["//evil.example", "/console/"],
  ["/\\evil.example", "/console/"],
  ["/\t/evil.example", "/console/"],
  ["/../../oauth2/token", "/console/"],
  ["/console/../api/mgmt/v1/users", "/console/"],
  ["/console/auth/callback?code=x", "/console/"],
  ["/session", "/console/"],
  ["/console/controller/v1/d", "/console/"],
  ["/%2e%2e/oauth2", "/console/"],
  [`/${"x".repeat(2_000)}`, "/console/"],
])("after the sign-in %s leads to %s", (asked, target) => {
  expect(targetOf(asked, "")).toBe(target);
});

test("behind a prefix targets are below it", () => {
  expect(targetOf("/rollouts", "/fleet")).toBe("/fleet/console/rollouts");
  expect(targetOf("/fleet/console/rollouts", "/fleet")).toBe("/fleet/console/rollouts");
  expect(targetOf("/fleet/console/../../x", "/fleet")).toBe("/fleet/console/");
});

const key = (n: number) => Buffer.alloc(32, n).toString("base64");
const keys = (ring: string) => new Transactions(parseKeys(`gateway/management=${ring}`));
const transaction = { issuer: "i", state: "s", nonce: "n", verifier: "v", redirectUri: "r", to: "/console/", until: 1_000 };

test("a transaction can be opened by every gateway with the keys, also while they are replaced, until it is over", () => {
  const sealed = keys(`k1:${key(1)}`).seal(transaction);
  expect(keys(`k2:${key(2)},k1:${key(1)}`).open(sealed, 999)).toEqual(transaction);
  expect(keys(`k2:${key(2)}`).open(sealed, 999)).toBeUndefined();
  expect(keys(`k1:${key(1)}`).open(sealed, 1_000)).toBeUndefined();
  for (const other of ["", "x", sealed.slice(1), `${sealed.slice(0, 30)}${sealed[30] === "A" ? "B" : "A"}${sealed.slice(31)}`])
    expect(keys(`k1:${key(1)}`).open(other, 0)).toBeUndefined();
  expect(keys(`k1:${key(1)}`).seal(transaction)).not.toBe(sealed);
});

const issuers = (more: object) => parseIssuers(JSON.stringify([{ issuer: "https://id.example.com", audience: "a", ...more }]));
test("an issuer with a client is one for browsers; half a registration is an error at the start", () => {
  expect(issuers({})[0]?.client).toBeUndefined();
  expect(issuers({ clientId: "c" })[0]?.client).toEqual({ id: "c", name: "id.example.com", scopes: ["openid"], deviceId: "c" });
  expect(issuers({ clientId: "c", clientSecret: "s", name: "Ours", scopes: ["openid", "roles"] })[0]?.client).toEqual({
    ...{ id: "c", secret: "s", name: "Ours", scopes: ["openid", "roles"] },
  });
  expect(issuers({ clientId: "c", clientSecret: "s", deviceClientId: "d" })[0]?.client).toMatchObject({ id: "c", deviceId: "d" });
  expect(() => issuers({ deviceClientId: "d" })).toThrow("deviceClientId: given without clientId");
  expect(() => issuers({ clientSecret: "s" })).toThrow("clientSecret: given without clientId");
  expect(() => issuers({ name: "s" })).toThrow("name: given without clientId");
  expect(() => issuers({ clientId: "c", scopes: ["email"] })).toThrow("scopes: without openid");
});
