import { expect, test } from "vitest";
import { readClaims } from "./claims.ts";
import { parseIssuers } from "./issuers.ts";

const issuerOf = (members: object = {}) => {
  const [issuer] = parseIssuers(JSON.stringify([{ issuer: "https://id.example.com", audience: "harrier", ...members }]));
  if (issuer === undefined) throw new Error("no issuer");
  return issuer;
};
const read = (claims: object, members?: object) => readClaims(issuerOf(members), { ...claims });

test("tenant, user and scopes are read", () => {
  expect(read({ tenant: "ACME", sub: "7f", preferred_username: "ann", scope: "openid operator  openid" })).toEqual({
    tenant: "ACME",
    subject: "ann",
    user: "ann",
    scopes: ["openid", "operator"],
  });
});

test.each<[string, object, object, string[]]>([
  ["a list", { scp: ["b", "fleet admin", 7, null] }, { scopeClaim: "scp" }, ["b", "fleet admin"]],
  ["a path", { realm_access: { roles: ["b", "a"] } }, { scopeClaim: "realm_access.roles" }, ["a", "b"]],
  ["a name with points", { "https://x.example/roles": ["a"] }, { scopeClaim: "https://x.example/roles" }, ["a"]],
  ["several claims", { scope: "a", roles: ["b"] }, { scopeClaim: ["scope", "roles", "scp"] }, ["a", "b"]],
  ["none", {}, {}, []],
  ["what is no scope", { scope: { a: 1 } }, {}, []],
  ["names that no role has", { scope: ["a\u0000", "x".repeat(134), ""] }, {}, []],
  ["what objects have anyway", {}, { scopeClaim: "constructor.name" }, []],
])("scopes: %s", (_, claims, members, scopes) => {
  expect(read({ tenant: "A", sub: "s", ...claims }, members)?.scopes).toEqual(scopes);
});

test.each<[string, object, object, string]>([
  ["fixed", { tenant: "OTHER" }, { tenant: "ACME" }, "ACME"],
  ["another claim", { org: { name: "ACME" } }, { tenantClaim: "org.name" }, "ACME"],
  ["alone in a list", { tenant: ["ACME"] }, {}, "ACME"],
])("tenant: %s", (_, claims, members, tenant) => expect(read({ sub: "s", ...claims }, members)?.tenant).toBe(tenant));

test("an issuer of some tenants cannot sign users in to another one", () => {
  const members = { tenants: ["Acme", "OTHER"] };
  expect(read({ sub: "s", tenant: "ACME" }, members)?.tenant).toBe("ACME");
  expect(read({ sub: "s", tenant: "other" }, members)?.tenant).toBe("other");
  for (const tenant of ["DEFAULT", "", undefined]) expect(read({ sub: "s", tenant }, members)).toBeUndefined();
});

test.each<[string, object]>([
  ["no tenant", { sub: "s" }],
  ["two tenants", { sub: "s", tenant: ["A", "B"] }],
  ["an empty tenant", { sub: "s", tenant: "" }],
  ["a tenant that is no text", { sub: "s", tenant: 1 }],
  ["a tenant with a control character", { sub: "s", tenant: "A\u0000" }],
  ["no user", { tenant: "A" }],
  ["a user without a name", { tenant: "A", sub: "s", preferred_username: "" }],
  ["a user with a long name", { tenant: "A", preferred_username: "x".repeat(129) }],
])("%s signs nobody in", (_, claims) => expect(read(claims)).toBeUndefined());

test("a client is no user, whatever user its token names", () => {
  const client = { ...issuerOf(), userClaims: [] };
  expect(readClaims(client, { sub: "c1", preferred_username: "ann", tenant: "A", scope: "x" })).toMatchObject({ subject: "c1", user: "" });
});
