import { eventually } from "@harrier/testkit";
import { expect, it, vi } from "vitest";
import { FileHashes } from "../hashing/file-hashes.ts";
import { KeptHashes } from "./kept-hashes.ts";

/** Hashes that tell whether somebody has disposed of them. */
function watched(size = 8) {
  const hashes = new FileHashes();
  void hashes.update(new Uint8Array(size));
  const dispose = vi.spyOn(hashes, Symbol.dispose);
  return { hashes, isGone: () => dispose.mock.calls.length > 0 };
}

const place = (id: string, received: number, tenantId = 1) => ({ tenantId, id, received });

it("hands out the hashes of exactly the bytes that are received, once, and nobody disposes of them", () => {
  const kept = new KeptHashes();
  const { hashes, isGone } = watched();
  kept.keep(place("a", 8), hashes);
  expect(kept.take(place("b", 8))).toBeUndefined();
  expect(kept.take(place("a", 8))).toBe(hashes);
  expect(kept.take(place("a", 8))).toBeUndefined();
  expect(isGone()).toBe(false);
});

it("gives up hashes where another replica has received parts meanwhile", () => {
  const kept = new KeptHashes();
  const { hashes, isGone } = watched();
  kept.keep(place("a", 8), hashes);
  expect(kept.take(place("a", 16))).toBeUndefined();
  expect(isGone()).toBe(true);
  expect(kept.take(place("a", 8))).toBeUndefined();
});

it("keeps no hashes of other bytes than were received", () => {
  expect(() => new KeptHashes().keep(place("a", 16), watched(8).hashes)).toThrow("8 bytes are hashed instead of 16");
});

it("gives up the oldest of a tenant that has more than four, and leaves those of others", () => {
  const kept = new KeptHashes();
  const other = watched();
  kept.keep(place("other", 8, 2), other.hashes);
  const own = Array.from({ length: 6 }, watched);
  for (const [n, { hashes }] of own.entries()) kept.keep(place(`own-${n}`, 8), hashes);
  expect(own.map(({ isGone }) => isGone())).toEqual([true, true, false, false, false, false]);
  expect(other.isGone()).toBe(false);
});

it("keeps those of sixteen uploads of all tenants", () => {
  const kept = new KeptHashes();
  const all = Array.from({ length: 20 }, watched);
  for (const [n, { hashes }] of all.entries()) kept.keep(place(`of-${n}`, 8, n), hashes);
  expect(all.map(({ isGone }) => isGone())).toEqual(all.map((_, n) => n < 4));
});

it("gives up hashes for which no part comes in time", async () => {
  const kept = new KeptHashes(100);
  const { hashes, isGone } = watched();
  kept.keep(place("a", 8), hashes);
  expect(isGone()).toBe(false);
  await eventually(() => expect(isGone()).toBe(true));
  expect(kept.take(place("a", 8))).toBeUndefined();
});
