import { exportJWK, generateKeyPair, type JSONWebKeySet } from "jose";
import { beforeEach, expect, test } from "vitest";
import { IssuerKeys } from "./issuer-keys.ts";

const pairs = await Promise.all(
  ["k1", "k2"].map(async (kid) => ({ ...(await exportJWK((await generateKeyPair("ES256")).publicKey)), kid })),
);
const setOf = (...numbers: number[]): JSONWebKeySet => ({ keys: numbers.map((n) => ({ kty: "EC", ...pairs[n - 1] })) });

let now: number;
let published: JSONWebKeySet | Error;
let requested: number;
let failures: number;
let keys: IssuerKeys;
beforeEach(() => {
  [now, requested, failures, published] = [1_000_000, 0, 0, setOf(1)];
  keys = new IssuerKeys({
    read: async () => {
      requested += 1;
      if (published instanceof Error) throw published;
      return published;
    },
    onFailed: () => void failures++,
    now: () => now,
  });
});
const find = (kid: string) => keys.find({ alg: "ES256", kid });
const noKey = { code: "ERR_JWKS_NO_MATCHING_KEY" };

test("the issuer is asked once for all waiting requests", async () => {
  await Promise.all([find("k1"), find("k1"), find("k1")]);
  await find("k1");
  expect(requested).toBe(1);
});

test("an unknown key is requested from the issuer, but not for every token with a made-up key id", async () => {
  await find("k1");
  published = setOf(1, 2);
  await expect(find("k2")).rejects.toMatchObject(noKey);
  now += 5_000;
  await find("k2");
  for (let n = 0; n < 100; n++) await expect(find(`made-up-${n}`)).rejects.toMatchObject(noKey);
  expect(requested).toBe(2);
});

test("a withdrawn key is evicted, and no request waits for it", async () => {
  await find("k1");
  published = setOf(2);
  now += 5 * 60_000 + 1;
  await find("k1");
  await expect.poll(() => requested).toBe(2);
  await expect.poll(() => find("k1").catch(({ code }) => code)).toBe(noKey.code);
});

test("known keys stay valid while the issuer is unreachable, and when it answers nonsense", async () => {
  await find("k1");
  for (const state of [new Error("down"), { keys: "none" } as unknown as JSONWebKeySet]) {
    published = state;
    now += 60 * 60_000;
    await find("k1");
    await find("k1");
  }
  await expect.poll(() => failures).toBe(2);
  await find("k1");
});

test("an issuer that was never reached is unavailable, and is asked again after a moment", async () => {
  published = new Error("down");
  for (let n = 0; n < 10; n++) await expect(find("k1")).rejects.toMatchObject({ code: "unavailable" });
  expect(requested).toBe(1);
  published = setOf(1);
  now += 5_000;
  await find("k1");
  expect(requested).toBe(2);
});
