import { HarrierError } from "@harrier/errors";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type CountedRefusal, type Refusal, Refusals } from "./refusals.ts";

let sent: { id: string; refusals: readonly CountedRefusal[] }[];
let failures: number;
/** Thrown by every attempt while it is there. */
let away: Error | undefined;
let dropped: number[];
let refusals: Refusals;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  [sent, failures, away, dropped] = [[], 0, undefined, []];
  refusals = new Refusals({
    send: async (told, id) => {
      sent.push({ id, refusals: told });
      if (away) throw away;
    },
    onFailed: () => {
      failures += 1;
    },
    onDropped: (lines) => dropped.push(lines),
    now: Date.now,
  });
});
afterEach(() => vi.useRealTimers());

const refusal = (members: Partial<Refusal> = {}): Refusal => ({
  tenantId: 0,
  tenant: "",
  signedIn: false,
  actor: "admin",
  action: "signIn",
  entity: "user",
  entityIds: ["admin"],
  scheme: "Basic",
  address: "10.0.0.1",
  status: 401,
  errorCode: "unauthenticated",
  ...members,
});
const counts = (batch = sent.at(-1)) => batch?.refusals.map(({ actor, times }) => [actor, times]);

test("one is told within a second, with the name of its request", async () => {
  refusals.note(refusal(), "r-1");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent[0]?.refusals).toEqual([{ ...refusal(), requestId: "r-1", at: 1_700_000_000_000, times: 1 }]);
});

test("what is alike is counted, and told every five seconds", async () => {
  for (let n = 0; n < 1_000; n += 1) refusals.note(refusal({ actor: n % 2 === 0 ? "a" : "b" }), `r-${n}`);
  await vi.advanceTimersByTimeAsync(1_000);
  refusals.note(refusal({ actor: "c" }), "r");
  await vi.advanceTimersByTimeAsync(4_000);
  expect(sent).toHaveLength(1);
  expect(counts()).toEqual([
    ["a", 500],
    ["b", 500],
  ]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(counts()).toEqual([["c", 1]]);
});

test("ten thousand different ones a minute are a few hundred lines, and none is lost", async () => {
  for (let second = 0; second < 60; second += 1) {
    for (let n = 0; n < 167; n += 1) refusals.note(refusal({ actor: `${second}-${n}`, address: `10.0.${second}.${n}` }), "r");
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await vi.advanceTimersByTimeAsync(6_000);
  const lines = sent.flatMap(({ refusals: told }) => told);
  expect(lines.length).toBeLessThan(900);
  expect(lines.reduce((sum, { times }) => sum + times, 0)).toBe(60 * 167);
});

test("while management is away the same batch is repeated, and all others are counted on", async () => {
  away = new Error("away");
  refusals.note(refusal({ actor: "a" }), "r");
  await vi.advanceTimersByTimeAsync(6_000);
  for (let n = 0; n < 100_000; n += 1) refusals.note(refusal({ actor: `x${n}` }), "r");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  expect(failures).toBe(1);
  away = undefined;
  await vi.advanceTimersByTimeAsync(11_000);
  expect(counts()?.length).toBe(65);
  expect(counts()?.at(-1)).toEqual(["", 100_000 - 64]);
});

test("a batch that management will never take is dropped, and what comes after is told", async () => {
  away = new HarrierError("constraintViolation");
  refusals.note(refusal({ actor: "a" }), "r");
  refusals.note(refusal({ actor: "b" }), "r");
  await vi.advanceTimersByTimeAsync(30_000);
  expect([sent.length, dropped, failures]).toEqual([1, [2], 0]);
  away = new HarrierError("unavailable");
  refusals.note(refusal({ actor: "c" }), "r");
  await vi.advanceTimersByTimeAsync(16_000);
  expect([new Set(sent.map(({ id }) => id)).size, dropped, failures]).toEqual([2, [2], 1]);
  away = undefined;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(counts()).toEqual([["c", 1]]);
});

test("a stop tells what waits", async () => {
  refusals.note(refusal(), "r");
  await refusals.stop();
  expect(counts()).toEqual([["admin", 1]]);
});
