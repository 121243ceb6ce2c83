import { createHmac, randomUUID } from "node:crypto";
import { type CryptoKey, createLocalJWKSet, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { parseIssuers } from "./issuers.ts";
import { TokenVerifier, type TrustedIssuer } from "./token-verifier.ts";

const start = Date.UTC(2026, 0, 1);
const [pair, foreign] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
const jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kty: "RSA", kid: "k1", alg: "RS256" }] };
const spki = await exportSPKI(pair.publicKey);

const entry = { issuer: "https://id.example.com", audience: ["harrier", "harrier-cli"] };
const other = { issuer: "https://other.example.com", audience: "harrier", tenant: "OTHER" };
const find = vi.fn(createLocalJWKSet(jwks));
const [issuers] = [parseIssuers(JSON.stringify([entry, other])).map((issuer): TrustedIssuer => ({ ...issuer, keys: { find } }))];

let now: number;
let verifier: TokenVerifier;
beforeEach(() => {
  now = start;
  find.mockClear();
  verifier = new TokenVerifier({ issuers, ttlSeconds: 300, now: () => now });
});

const seconds = () => Math.floor(now / 1_000);
const good = (): JWTPayload => ({ iss: entry.issuer, aud: "harrier", sub: "ann", tenant: "ACME", scope: "a b", exp: seconds() + 600 });

interface Making {
  claims?: JWTPayload;
  header?: object;
  key?: CryptoKey | Uint8Array;
}

const make = ({ claims = {}, header = {}, key = pair.privateKey }: Making = {}) =>
  new SignJWT({ ...good(), ...claims }).setProtectedHeader({ alg: "RS256", kid: "k1", ...header }).sign(key);

test("a verified token names its tenant, subject and scopes", async () => {
  const expiresAt = start + 600_000;
  expect(await verifier.verify(await make())).toMatchObject({ tenant: "ACME", subject: "ann", user: "ann", scopes: ["a", "b"], expiresAt });
  expect(await verifier.verify(await make({ claims: { aud: ["x", "harrier-cli"] } }))).toMatchObject({ subject: "ann" });
  expect(await verifier.verify(await make({ header: { typ: "at+jwt" } }))).toMatchObject({ subject: "ann" });
});

test("a token of an issuer with a fixed tenant is valid for no other tenant", async () => {
  const claims = { iss: other.issuer, tenant: "ACME" };
  expect(await verifier.verify(await make({ claims }))).toMatchObject({ tenant: "OTHER" });
});

test("tokens with the same claims have the same meaning, whatever their ids and the order of their scopes", async () => {
  const meanings = [{}, { scope: "b  a", jti: randomUUID(), tenant: "acme" }, { scope: "a" }, { sub: "bob" }, { tenant: "B" }];
  const verified = await Promise.all(meanings.map(async (claims) => verifier.verify(await make({ claims }))));
  const [first, same, ...rest] = verified.map(({ meaning }) => meaning);
  expect(same).toBe(first);
  expect(new Set([first, ...rest]).size).toBe(4);
});

/** The signature is valid, but the token has an extension that we do not know. */
const withExtension = () =>
  new SignJWT(good()).setProtectedHeader({ alg: "RS256", kid: "k1", crit: ["x"], x: 1 }).sign(pair.privateKey, { crit: { x: true } });

const withPart = (token: string, part: number, change: (text: string) => string) =>
  token
    .split(".")
    .map((text, i) => (i === part ? change(text) : text))
    .join(".");
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs with the public key, which everybody has, as the secret of a symmetric algorithm. */
function hs256(claims: JWTPayload): string {
  const signed = `${encoded({ alg: "HS256", kid: "k1" })}.${encoded(claims)}`;
  return `${signed}.${createHmac("sha256", spki).update(signed).digest("base64url")}`;
}

describe("tokens that are denied, all alike", () => {
  const table: [string, () => string | Promise<string>][] = [
    ["nothing", () => ""],
    ["no token", () => "abc"],
    ["three points of nothing", () => "a.b.c"],
    ["claims that were changed", async () => withPart(await make(), 1, () => encoded({ ...good(), scope: "role:SYSTEM_ADMIN" }))],
    ["a signature that was changed", async () => withPart(await make(), 2, (s) => (s.startsWith("A") ? "B" : "A") + s.slice(1))],
    ["no signature", async () => withPart(await make(), 2, () => "")],
    ["alg none", () => new UnsecuredJWT(good()).encode()],
    ["alg none in capitals, with a signature", async () => withPart(await make(), 0, () => encoded({ alg: "None", kid: "k1" }))],
    ["HS256 with the public key as its secret", () => hs256(good())],
    ["another key with the same id", () => make({ key: foreign.privateKey })],
    ["a key id that is unknown", () => make({ header: { kid: "k2" } })],
    [
      "a key that the token brings itself",
      async () => make({ key: foreign.privateKey, header: { jwk: await exportJWK(foreign.publicKey) } }),
    ],
    ["expired", () => make({ claims: { exp: seconds() - 6 } })],
    ["without exp", () => make({ claims: { exp: undefined as never } })],
    ["exp that is no number", () => make({ claims: { exp: "later" as never } })],
    ["not valid yet", () => make({ claims: { nbf: seconds() + 6 } })],
    ["for another audience", () => make({ claims: { aud: "another" } })],
    ["without audience", () => make({ claims: { aud: undefined as never } })],
    ["of an issuer that is not trusted", () => make({ claims: { iss: "https://evil.example.com" } })],
    ["of an issuer spelled otherwise", () => make({ claims: { iss: `${entry.issuer}/` } })],
    ["without issuer", () => make({ claims: { iss: undefined as never } })],
    ["of another type", () => make({ header: { typ: "logout+jwt" } })],
    ["with an extension that must be understood", withExtension],
    ["without tenant", () => make({ claims: { tenant: undefined } })],
    ["without subject", () => make({ claims: { sub: undefined as never } })],
  ];
  test.each(table)("%s", async (_, token) => {
    await expect((async () => verifier.verify(await token()))()).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

test("clocks may differ by seconds", async () => {
  await verifier.verify(await make({ claims: { exp: seconds() - 4, nbf: seconds() + 4 } }));
});

test("a known token is accepted at once, and no longer than it lives", async () => {
  const token = await make({ claims: { exp: seconds() + 60 } });
  await verifier.verify(token);
  expect(verifier.verify(token)).toMatchObject({ subject: "ann" });
  expect(find).toHaveBeenCalledTimes(1);
  now += 66_000;
  await expect(verifier.verify(token)).rejects.toMatchObject({ code: "unauthenticated" });
});

test("a known token of a withdrawn key is verified again after a while", async () => {
  const token = await make();
  await verifier.verify(token);
  now += 300_001;
  find.mockRejectedValueOnce(new Error("gone"));
  await expect(verifier.verify(token)).rejects.toMatchObject({ code: "unauthenticated" });
});

test("an unsigned token triggers no request for keys", async () => {
  const table = [hs256(good()), new UnsecuredJWT(good()).encode(), await make({ claims: { iss: "https://evil.example.com" } })];
  for (const token of table) await expect((async () => verifier.verify(token))()).rejects.toThrow();
  expect(find).not.toHaveBeenCalled();
});
