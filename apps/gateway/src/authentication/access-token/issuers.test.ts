import { expect, test } from "vitest";
import { parseIssuers } from "./issuers.ts";

const minimal = { issuer: "https://id.example.com/realms/fleet", audience: "harrier" };
const parse = (...entries: object[]) => parseIssuers(JSON.stringify(entries));

test("members that are absent default to what most providers use", () => {
  expect(parse(minimal)).toEqual([
    {
      issuer: minimal.issuer,
      audiences: ["harrier"],
      tenant: { claim: "tenant" },
      scopeClaims: ["scope"],
      userClaims: ["preferred_username", "sub"],
    },
  ]);
  expect(parseIssuers("[]")).toEqual([]);
});

test("every member is read", () => {
  const all = {
    issuer: "http://127.0.0.1:9000",
    audience: ["a", "b"],
    jwksUri: "http://id.internal/keys",
    allowHttp: true,
    tenant: "ACME",
    scopeClaim: ["scope", "realm_access.roles"],
    userClaim: "email",
  };
  expect(parse(minimal, all)[1]).toEqual({
    issuer: all.issuer,
    audiences: ["a", "b"],
    jwksUri: all.jwksUri,
    tenant: { fixed: "ACME" },
    scopeClaims: ["scope", "realm_access.roles"],
    userClaims: ["email"],
  });
});

test.each<[string, object | string, string]>([
  ["no JSON", "https://id.example.com", "no JSON list like ["],
  ["no list", '{"issuer":"x"}', "no list of issuers"],
  ["a member that is none", { issuer: minimal.issuer, audienc: "x" }, `issuer ${minimal.issuer}: unknown member audienc`],
  ["no audience", { issuer: minimal.issuer }, `issuer ${minimal.issuer}: audience: no text and no list of texts`],
  ["no issuer", { audience: "x" }, "issuer number 1: issuer: no text"],
  ["no URL", { ...minimal, issuer: "id" }, "issuer id: issuer: no URL like https://id.example.com"],
  ["keys in the clear", { ...minimal, jwksUri: "http://id.example.com/keys" }, 'jwksUri: not https: only with "allowHttp": true'],
  ["an issuer in the clear", { ...minimal, issuer: "http://id.example.com" }, 'issuer: not https: only with "allowHttp": true'],
  ["two ways to a tenant", { ...minimal, tenant: "A", tenantClaim: "org" }, "tenantClaim: given beside tenant: keep one"],
  ["tenants beside one", { ...minimal, tenant: "A", tenants: ["A"] }, "tenants: given beside tenant: keep one"],
  ["no tenant at all", { ...minimal, tenants: [] }, "tenants: empty"],
  ["an empty list", { ...minimal, audience: [] }, `issuer ${minimal.issuer}: audience: empty`],
])("%s is an error in one line", (_, given, message) => {
  const json = typeof given === "string" ? given : JSON.stringify([given]);
  expect(() => parseIssuers(json)).toThrow(message);
  expect(() => parseIssuers(json)).not.toThrow("\n");
});

test("an issuer may be given only once", () => {
  expect(() => parse(minimal, minimal)).toThrow(`issuer ${minimal.issuer} is given twice`);
});
