import { createJob, type RunningJob } from "@harrier/jobs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { jobs } from "../jobs.ts";
import { type KeyUse, KeyUses } from "./key-uses.ts";

const day = 24 * 60 * 60_000;
const minute = 60_000;
let sent: string[][];
let failures: string[];
let away: boolean;
let uses: KeyUses;
let job: RunningJob;

beforeEach(() => {
  vi.useFakeTimers({ now: 20_000 * day });
  [sent, failures, away] = [[], [], false];
  ({ uses, job } = create());
});
afterEach(() => vi.useRealTimers());

const shown = ({ tenantId, keyId, day: on }: KeyUse) => `${tenantId}/${keyId}@${on}`;
function create(batch?: number): { uses: KeyUses; job: RunningJob } {
  const send = async (recorded: readonly KeyUse[]) => {
    if (away) throw new Error("away");
    sent.push(recorded.map(shown));
  };
  const own = new KeyUses({ send, wake: () => ownJob.wake?.(), now: Date.now }, batch);
  const warn = (fields: object) => void failures.push((fields as { err: Error }).err.message);
  const ownJob: RunningJob = createJob(jobs["key-uses"], { uses: own }, { log: { warn } });
  return { uses: own, job: ownJob };
}

test("the first use of a day is sent within a second, and no other one that day", async () => {
  for (let n = 0; n < 1_000; n += 1) uses.record(1, 11);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toEqual([["1/11@20000"]]);
  for (let hour = 0; hour < 23; hour += 1) {
    uses.record(1, 11);
    await vi.advanceTimersByTimeAsync(60 * minute);
  }
  expect(sent).toHaveLength(1);
});

test("uses of further keys are sent at most once a minute, together", async () => {
  uses.record(1, 11);
  await vi.advanceTimersByTimeAsync(1_000);
  uses.record(1, 12);
  uses.record(2, 11);
  await vi.advanceTimersByTimeAsync(minute - 2_000);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent).toEqual([["1/11@20000"], ["1/12@20000", "2/11@20000"]]);
});

test("the first use of each day is sent", async () => {
  uses.record(1, 11);
  await vi.advanceTimersByTimeAsync(day);
  uses.record(1, 11);
  await vi.advanceTimersByTimeAsync(minute);
  expect(sent).toEqual([["1/11@20000"], ["1/11@20001"]]);
});

test("while management is unavailable the newest day of each key is kept, with one warning", async () => {
  away = true;
  uses.record(1, 11);
  uses.record(1, 12);
  await vi.advanceTimersByTimeAsync(day);
  uses.record(1, 12);
  await vi.advanceTimersByTimeAsync(5 * minute);
  expect([sent, failures]).toEqual([[], ["away"]]);
  away = false;
  await vi.advanceTimersByTimeAsync(minute);
  expect(sent.map((batch) => batch.toSorted())).toEqual([["1/11@20000", "1/12@20001"]]);
  away = true;
  uses.record(1, 13);
  await vi.advanceTimersByTimeAsync(minute);
  expect(failures).toHaveLength(2);
});

test("stop() sends waiting uses, and those of a batch that failed", async () => {
  uses.record(1, 11);
  await job.stop();
  expect(sent).toEqual([["1/11@20000"]]);
  await vi.advanceTimersByTimeAsync(day);
  expect(sent).toHaveLength(1);
  const other = create();
  away = true;
  other.uses.record(1, 12);
  await vi.advanceTimersByTimeAsync(1_000);
  away = false;
  await other.job.stop();
  expect(sent).toEqual([["1/11@20000"], ["1/12@20001"]]);
});

test("a stop does not wait for a management that is unavailable", async () => {
  away = true;
  uses.record(1, 11);
  await job.stop();
  expect(failures).toEqual(["away"]);
});

test("a large number is sent in several batches", async () => {
  const { uses: small } = create(2);
  for (let keyId = 1; keyId <= 5; keyId += 1) small.record(1, keyId);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent.map((batch) => batch.length)).toEqual([2, 2, 1]);
});
