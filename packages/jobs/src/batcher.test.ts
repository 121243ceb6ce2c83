import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Batcher } from "./batcher.ts";

let waiting: number;
let sent: [at: number, entries: number][];
let isAway: boolean;
let batcher: Batcher;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  [waiting, sent, isAway] = [0, [], false];
  const send = async (): Promise<void> => {
    sent.push([Date.now(), waiting]);
    if (!isAway) waiting = 0;
  };
  batcher = new Batcher({ send, isWaiting: () => waiting > 0, soonMs: 500, everyMs: 5_000 });
});
afterEach(() => vi.useRealTimers());

function add(): void {
  waiting += 1;
  batcher.wake();
}

test("the first entry is sent soon, with the entries that come until then", async () => {
  add();
  await vi.advanceTimersByTimeAsync(400);
  add();
  await vi.advanceTimersByTimeAsync(100);
  expect(sent).toEqual([[500, 2]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("batches begin a period apart, and after a quiet time one is sent soon again", async () => {
  add();
  await vi.advanceTimersByTimeAsync(600);
  add();
  await vi.advanceTimersByTimeAsync(4_899);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([
    [500, 1],
    [5_500, 1],
  ]);
  await vi.advanceTimersByTimeAsync(10_000);
  add();
  await vi.advanceTimersByTimeAsync(500);
  expect(sent.at(-1)).toEqual([16_000, 1]);
});

test("entries that could not be sent go with the next batch", async () => {
  isAway = true;
  add();
  await vi.advanceTimersByTimeAsync(5_500);
  isAway = false;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sent).toEqual([
    [500, 1],
    [5_500, 1],
    [10_500, 1],
  ]);
});

test("a stop sends the waiting entries in one attempt, and nothing is sent after it", async () => {
  isAway = true;
  add();
  await batcher.stop();
  expect(sent).toEqual([[0, 1]]);
  add();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(1);
});

test("a stop with nothing to send sends nothing", async () => {
  await batcher.stop();
  expect(sent).toEqual([]);
});
