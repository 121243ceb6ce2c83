import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeAll, expect, test, vi } from "vitest";
import { OwnTokens } from "./own-tokens.ts";

const issuer = "https://updates.example.com";
const refused = { code: "unauthenticated" };
type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
let pair: Pair;
let other: Pair;
let jwks: { keys: object[] };

beforeAll(async () => {
  [pair, other] = [await generateKeyPair("ES256", { extractable: true }), await generateKeyPair("ES256", { extractable: true })];
  jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k1", alg: "ES256" }] };
});

function setUp() {
  let now = Date.now();
  const read = vi.fn(async () => ({ issuer, audience: issuer, jwks: jwks as never }));
  const own = new OwnTokens({ read, onFailed: () => undefined, ttlSeconds: 300, now: () => now });
  return { own, read, verify: async (token: string) => own.verify(token), pass: (ms: number) => (now += ms) };
}

const claims = { iss: issuer, aud: issuer, sub: "oc_1_11", scope: "READ_TARGET API_KEY", gen: 2 };
async function sign(more: object = {}, { key = pair.privateKey, header = {} }: { key?: Pair["privateKey"]; header?: object } = {}) {
  const soon = Math.floor(Date.now() / 1_000) + 60;
  return new SignJWT({ ...claims, exp: soon, ...more }).setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "k1", ...header }).sign(key);
}

test("the claims of our own token; once verified it is known at once until it expires", async () => {
  const { own, read, verify, pass } = setUp();
  const token = await sign();
  const said = { clientId: "oc_1_11", scopes: ["READ_TARGET", "API_KEY"], generation: 2 };
  expect(await verify(token)).toMatchObject(said);
  expect(own.verify(token)).toMatchObject(said);
  expect(read).toHaveBeenCalledTimes(1);
  pass(70_000);
  await expect(verify(token)).rejects.toMatchObject(refused);
});

test("a token of another issuer is not verified here, and a missing token signs no principal in", async () => {
  const { verify } = setUp();
  expect(await verify(await sign({ iss: "https://id.example.com" }))).toBeUndefined();
  expect(await verify("x")).toBeUndefined();
  expect(await verify("a.b.c")).toBeUndefined();
});

test("when our issuer changes, its tokens are accepted within minutes", async () => {
  const { read, verify, pass } = setUp();
  await verify(await sign());
  const renamed = "https://fleet.example.com";
  read.mockResolvedValue({ issuer: renamed, audience: renamed, jwks: jwks as never });
  const token = await sign({ iss: renamed, aud: renamed, exp: Math.floor(Date.now() / 1_000) + 3_600 });
  expect(await verify(token)).toBeUndefined();
  expect(read).toHaveBeenCalledTimes(1);
  pass(5 * 60_000 + 1);
  await expect.poll(() => verify(token)).toMatchObject({ clientId: "oc_1_11" });
  expect(read).toHaveBeenCalledTimes(2);
});

test.each<[string, object, { header?: object; foreign?: true }]>([
  ["another audience", { aud: "https://elsewhere.example" }, {}],
  ["no scope", { scope: undefined }, {}],
  ["no generation", { gen: undefined }, {}],
  ["no end", { exp: undefined }, {}],
  ["an end in the past", { exp: 1 }, {}],
  ["a beginning in the future", { nbf: 9_999_999_999 }, {}],
  ["another type", {}, { header: { typ: "JWT" } }],
  ["an unknown key", {}, { header: { kid: "k2" } }],
  ["somebody else's signature", {}, { foreign: true }],
])("%s signs nobody in", async (_what, more, { header, foreign }) => {
  const token = await sign(more, { ...(foreign && { key: other.privateKey }), ...(header && { header }) });
  await expect(setUp().verify(token)).rejects.toMatchObject(refused);
});

test("a missing signature, and one without a public key, sign nobody in", async () => {
  const { verify } = setUp();
  const [, payload] = (await sign()).split(".");
  const head = (alg: string) => Buffer.from(JSON.stringify({ alg, typ: "at+jwt", kid: "k1" })).toString("base64url");
  for (const alg of ["none", "HS256", "RS256"]) await expect(verify(`${head(alg)}.${payload}.`)).rejects.toMatchObject(refused);
  await expect(verify(`${await sign()}x`)).rejects.toMatchObject(refused);
});

test("while management is unavailable the answer is not 401", async () => {
  const { own, read } = setUp();
  read.mockRejectedValue(new Error("down"));
  await expect(own.verify(await sign())).rejects.toMatchObject({ code: "unavailable" });
});
