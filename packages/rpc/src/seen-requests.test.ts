import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { clockDifferenceMs, identityLifeMs } from "./identity.ts";
import { SeenRequests } from "./seen-requests.ts";

const now = 1_800_000_000_000;
/** Makes the relevant part of many MACs at once, because one by one is slow. */
const macs = (count: number): string[] => {
  const bytes = randomBytes(9 * count);
  return Array.from({ length: count }, (_, n) => bytes.toString("base64url", 9 * n, 9 * n + 9));
};
const mac = () => macs(1)[0] as string;

it("accepts each MAC once, for as long as any clock accepts it", () => {
  const seen = new SeenRequests();
  const [first, second] = [mac(), mac()];
  const ends = now + identityLifeMs;
  expect([seen.record(first, ends, now), seen.record(second, ends, now)]).toEqual(["first", "first"]);
  for (const later of [0, 10_000, identityLifeMs + clockDifferenceMs - 1]) expect(seen.record(first, ends, now + later)).toBe("again");
});

it("forgets expired requests, and a clock that is set back a little does not make them valid again", () => {
  const seen = new SeenRequests();
  const old = mac();
  seen.record(old, now, now);
  for (const one of macs(50_000)) seen.record(one, now, now);
  const held = seen.size;
  const later = now + clockDifferenceMs + 40_000;
  expect(seen.record(mac(), later + identityLifeMs, later)).toBe("first");
  expect(seen.size).toBeLessThan(held / 10);
  expect(seen.record(old, now, now)).toBe("again");
});

it("accepts changes again once a clock that was an hour ahead is corrected, each once", () => {
  const seen = new SeenRequests();
  const [before, ahead, after] = [mac(), mac(), mac()];
  const hour = 3_600_000;
  expect(seen.record(before, now + identityLifeMs, now)).toBe("first");
  expect(seen.record(ahead, now + hour + identityLifeMs, now + hour)).toBe("first");
  expect(seen.record(after, now + 1_000 + identityLifeMs, now + 1_000)).toBe("first");
  expect(seen.record(after, now + 1_000 + identityLifeMs, now + 2_000)).toBe("again");
  // requests from the time when it was ahead are not forgotten by correcting it
  expect(seen.record(ahead, now + hour + identityLifeMs, now + 3_000)).toBe("again");
});

it("holds 5,000 changes a second in less than 16 MB, finds all of them again, and refuses more than it can remember", () => {
  const seen = new SeenRequests();
  const sample: [string, number][] = [];
  // this covers the time in which anything is remembered: the life of an identity and the clocks' difference after it
  for (let second = 0; second < 80; second += 1) {
    const at = now + second * 1_000;
    const batch = macs(5_000);
    for (const one of batch) {
      if (seen.record(one, at + identityLifeMs, at) !== "first") throw new Error("a new one was taken for an old one");
    }
    sample.push([batch[0] as string, at + identityLifeMs]);
  }
  expect(seen.size).toBeLessThan(16 * 1024 * 1024);
  const end = now + 79_000;
  for (const [one, ends] of sample.filter(([, at]) => at > end)) expect(seen.record(one, ends, end)).toBe("again");

  const flood = new SeenRequests();
  let outcome = "first";
  for (const one of macs(250_000)) if (outcome === "first") outcome = flood.record(one, now, now);
  expect(outcome).toBe("full");
  expect(flood.size).toBeLessThanOrEqual(2 * 1024 * 1024);
});
