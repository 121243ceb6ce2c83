import { HarrierError } from "@harrier/errors";
import { createJob, type RunningJob } from "@harrier/jobs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { jobs } from "../jobs.ts";
import { type CountedDeniedRequest, type DeniedRequest, DeniedRequests } from "./denied-requests.ts";

let sent: { id: string; deniedRequests: readonly CountedDeniedRequest[] }[];
let failures: number;
/** Every attempt throws it while it is set. */
let away: Error | undefined;
let dropped: number[];
let deniedRequests: DeniedRequests;
let job: RunningJob;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  [sent, failures, away, dropped] = [[], 0, undefined, []];
  deniedRequests = new DeniedRequests({
    send: async (told, id) => {
      sent.push({ id, deniedRequests: told });
      if (away) throw away;
    },
    wake: () => job.wake?.(),
    onDropped: (lines) => dropped.push(lines),
    now: Date.now,
  });
  const warn = () => {
    failures += 1;
  };
  job = createJob(jobs["denied-requests"], { deniedRequests }, { log: { warn } });
});
afterEach(() => vi.useRealTimers());

const deniedRequest = (members: Partial<DeniedRequest> = {}): DeniedRequest => ({
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
const counts = (batch = sent.at(-1)) => batch?.deniedRequests.map(({ actor, times }) => [actor, times]);

test("a denied request is sent within a second, with its request id", async () => {
  deniedRequests.record(deniedRequest(), "r-1");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent[0]?.deniedRequests).toEqual([{ ...deniedRequest(), requestId: "r-1", at: 1_700_000_000_000, times: 1 }]);
});

test("denied requests that are alike are counted, and sent every five seconds", async () => {
  for (let n = 0; n < 1_000; n += 1) deniedRequests.record(deniedRequest({ actor: n % 2 === 0 ? "a" : "b" }), `r-${n}`);
  await vi.advanceTimersByTimeAsync(1_000);
  deniedRequests.record(deniedRequest({ actor: "c" }), "r");
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
    for (let n = 0; n < 167; n += 1) deniedRequests.record(deniedRequest({ actor: `${second}-${n}`, address: `10.0.${second}.${n}` }), "r");
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await vi.advanceTimersByTimeAsync(6_000);
  const lines = sent.flatMap(({ deniedRequests: told }) => told);
  expect(lines.length).toBeLessThan(900);
  expect(lines.reduce((sum, { times }) => sum + times, 0)).toBe(60 * 167);
});

test("while management is unavailable the same batch is repeated, and all others are counted", async () => {
  away = new Error("away");
  deniedRequests.record(deniedRequest({ actor: "a" }), "r");
  await vi.advanceTimersByTimeAsync(6_000);
  for (let n = 0; n < 100_000; n += 1) deniedRequests.record(deniedRequest({ actor: `x${n}` }), "r");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  expect(failures).toBe(1);
  away = undefined;
  await vi.advanceTimersByTimeAsync(11_000);
  expect(counts()?.length).toBe(65);
  expect(counts()?.at(-1)).toEqual(["", 100_000 - 64]);
});

test("a batch that management rejects for good is dropped, and later ones are sent", async () => {
  away = new HarrierError("constraintViolation");
  deniedRequests.record(deniedRequest({ actor: "a" }), "r");
  deniedRequests.record(deniedRequest({ actor: "b" }), "r");
  await vi.advanceTimersByTimeAsync(30_000);
  expect([sent.length, dropped, failures]).toEqual([1, [2], 0]);
  away = new HarrierError("unavailable");
  deniedRequests.record(deniedRequest({ actor: "c" }), "r");
  await vi.advanceTimersByTimeAsync(16_000);
  expect([new Set(sent.map(({ id }) => id)).size, dropped, failures]).toEqual([2, [2], 1]);
  away = undefined;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(counts()).toEqual([["c", 1]]);
});

test("stop() sends what waits", async () => {
  deniedRequests.record(deniedRequest(), "r");
  await job.stop();
  expect(counts()).toEqual([["admin", 1]]);
});
