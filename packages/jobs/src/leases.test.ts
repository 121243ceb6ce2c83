import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Leases, type LeaseWork } from "./leases.ts";

interface Claim {
  readonly id: number;
  readonly attempts: number;
}

let due: Claim[];
let events: string[];
let warnings: string[];
let leases: Leases<Claim> | undefined;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  [due, events, warnings, leases] = [[], [], [], undefined];
});
afterEach(() => vi.useRealTimers());

function start(work: Partial<LeaseWork<Claim>> = {}): Leases<Claim> {
  const usual: LeaseWork<Claim> = {
    claim: async (free, perTenant) => {
      events.push(`claim ${free}/${perTenant}`);
      return due.splice(0, free);
    },
    work: async ({ id }) => events.push(`work ${id}`),
    failed: async ({ id }, { attempts, cooldownMs }) => events.push(`failed ${id}: ${attempts}, ${cooldownMs}`),
    failures: { claim: "nothing can be claimed", work: "the work failed" },
  };
  const log = { warn: (_: object, message: string) => warnings.push(message) };
  leases = new Leases({ ...usual, ...work }, { pollMs: 1_000, leaseSeconds: 4, slots: 3, log });
  leases.start();
  return leases;
}

test("a worker polls once a period, works on its claims and then claims again at once", async () => {
  due = [1, 2, 3, 4].map((id) => ({ id, attempts: 0 }));
  start({ notice: async () => events.push("notice") });
  await vi.advanceTimersByTimeAsync(500);
  expect(events).toEqual(["notice", "claim 3/2", "work 1", "work 2", "work 3", "claim 3/2", "work 4", "claim 3/2"]);
  events = [];
  await vi.advanceTimersByTimeAsync(500);
  expect(events).toEqual(["notice", "claim 3/2"]);
});

test("a wake-up claims at once, but changes elsewhere are noticed at the next poll", async () => {
  const own = start({ notice: async () => events.push("notice") });
  await vi.advanceTimersByTimeAsync(300);
  events = [];
  own.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(events).toEqual(["claim 3/2"]);
  await vi.advanceTimersByTimeAsync(700);
  expect(events).toEqual(["claim 3/2", "notice", "claim 3/2"]);
});

test("no more is claimed than there are free slots", async () => {
  due = [1, 2, 3, 4].map((id) => ({ id, attempts: 0 }));
  const ends: (() => void)[] = [];
  start({ work: () => new Promise<void>((resolve) => ends.push(resolve)) });
  await vi.advanceTimersByTimeAsync(2_500);
  expect([events, ends.length]).toEqual([["claim 3/2"], 3]);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect([events, ends.length]).toEqual([["claim 3/2", "claim 1/2"], 4]);
});

test("a claim whose work fails is released with the number of failures and a back-off", async () => {
  due = [{ id: 1, attempts: 2 }];
  start({ work: () => Promise.reject(new Error("broken")) });
  await vi.advanceTimersByTimeAsync(0);
  expect(events).toContain("failed 1: 3, 1000");
  expect(warnings).toEqual(["the work failed"]);
});

test("failing claims are logged once, and at the start only when they last", async () => {
  let isBroken = true;
  const claim = async () => {
    if (isBroken) throw new Error("no database");
    return [];
  };
  start({ claim });
  await vi.advanceTimersByTimeAsync(9_999);
  expect(warnings).toEqual([]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(warnings).toEqual(["nothing can be claimed"]);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(1_000);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(3_000);
  expect(warnings).toHaveLength(2);
});

test("the work on a claim that cannot be renewed is aborted", async () => {
  due = [1, 2].map((id) => ({ id, attempts: 0 }));
  const aborted: number[] = [];
  const work = ({ id }: Claim, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(void aborted.push(id)));
    });
  start({ work, renewal: { renew: async () => ["2"], keyOf: ({ id }) => String(id), failure: "not renewed" } });
  await vi.advanceTimersByTimeAsync(999);
  expect(aborted).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(aborted).toEqual([1]);
});

test("a stop aborts running work and waits for it, five seconds at most", async () => {
  due = [1, 2].map((id) => ({ id, attempts: 0 }));
  const own = start({
    work: ({ id }, signal) =>
      new Promise<void>((resolve) => {
        if (id === 1) signal.addEventListener("abort", () => setTimeout(resolve, 200));
        else signal.addEventListener("abort", () => setTimeout(resolve, 60_000));
      }),
  });
  await vi.advanceTimersByTimeAsync(0);
  const stopped = own.stop().then(() => Date.now());
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await stopped).toBe(5_000);
});
