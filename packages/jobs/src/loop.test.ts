import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Loop, type LoopOptions } from "./loop.ts";
import { pause } from "./pause.ts";

let begun: number[];
beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  begun = [];
});
afterEach(() => vi.useRealTimers());

function loop(options: Partial<LoopOptions> & { takesMs?: number } = {}): Loop {
  const { takesMs = 0, ...others } = options;
  const round = async (): Promise<unknown> => {
    begun.push(Date.now());
    if (takesMs > 0) await pause(takesMs);
    return undefined;
  };
  return new Loop({ round, everyMs: 1_000, ...others });
}

test("the wait begins at the end of a round, and the first round comes at once", async () => {
  void loop({ takesMs: 300 }).start();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(begun).toEqual([0, 1_300, 2_600]);
});

test("the first round may come after a period, and the start does not wait for it", async () => {
  await loop({ later: true }).start();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(begun).toEqual([1_000, 2_000]);
});

test.each([
  [300, [0, 1_000, 2_000, 3_000, 4_000]],
  [1_500, [0, 2_000, 4_000]],
])("steady rounds that take %i ms begin in step; a step during a round is skipped", async (takesMs, expected) => {
  void loop({ steady: true, takesMs }).start();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(begun).toEqual(expected);
});

test("a round that leaves something to do is followed by the next one at once", async () => {
  const answers = [true, true, false];
  const round = async () => {
    begun.push(Date.now());
    return answers.shift();
  };
  void loop({ round }).start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toEqual([0, 0, 0, 1_000]);
});

test("a wake-up ends the wait, and one in the middle of a round counts after it", async () => {
  const own = loop({ takesMs: 100 });
  void own.start();
  await vi.advanceTimersByTimeAsync(500);
  own.wake();
  await vi.advanceTimersByTimeAsync(50);
  own.wake();
  await vi.advanceTimersByTimeAsync(100);
  expect(begun).toEqual([0, 500, 600]);
});

test("a stop waits for the round that is under way and begins none", async () => {
  const own = loop({ takesMs: 400 });
  const started = own.start();
  const stopped = own.stop().then(() => Date.now());
  await vi.advanceTimersByTimeAsync(5_000);
  await started;
  expect([await stopped, begun]).toEqual([400, [0]]);
});

test("a stop with a limit waits no longer, and one with a last round writes what has been collected", async () => {
  const limited = loop({ takesMs: 400, stopLimitMs: 100 });
  void limited.start();
  const stopped = limited.stop().then(() => Date.now());
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await stopped).toBe(100);
  begun = [];
  const last = loop({ lastRound: true });
  await last.start();
  await last.stop();
  expect(begun).toEqual([1_000, 1_000]);
});

test("a stop waits no longer than two seconds for a round that hangs, and does no last round beside it", async () => {
  const hanging = loop({ takesMs: 3_600_000, lastRound: true });
  void hanging.start();
  const stopped = hanging.stop().then(() => Date.now());
  await vi.advanceTimersByTimeAsync(10_000);
  expect([await stopped, begun]).toEqual([2_000, [0]]);
});

test("a stop ends a wait at once", async () => {
  const own = loop();
  await own.start();
  await own.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test("rounds that find nothing come ever more seldom; a round that finds something and a wake-up bring the period back", async () => {
  const answers: unknown[] = [false, false, false, false, undefined, false, false];
  const round = async () => {
    begun.push(Date.now());
    return answers.length > 0 ? answers.shift() : false;
  };
  const own = loop({ round, restMs: 5_000 });
  void own.start();
  await vi.advanceTimersByTimeAsync(12_000);
  expect(begun).toEqual([0, 1_000, 3_000, 7_000, 12_000]);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(begun.slice(5)).toEqual([13_000, 14_000]);
  own.wake();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(begun.slice(7)).toEqual([15_500, 16_500, 18_500]);
});

test("steady rounds rest too, and a rest is never shorter than the period", async () => {
  const empty = async () => {
    begun.push(Date.now());
    return false;
  };
  void loop({ round: empty, steady: true, restMs: 500 }).start();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(begun).toEqual([0, 1_000, 2_000, 3_000]);
});

test("a paced loop is woken from its rest at once, and otherwise begins a round a period after the last one at the earliest", async () => {
  const empty = async () => {
    begun.push(Date.now());
    return false;
  };
  const own = loop({ round: empty, paced: true, restMs: 8_000 });
  void own.start();
  await vi.advanceTimersByTimeAsync(5_500);
  expect(begun).toEqual([0, 1_000, 3_000]);
  own.wake();
  await vi.advanceTimersByTimeAsync(200);
  own.wake();
  own.wake();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun.slice(3)).toEqual([5_500, 6_500]);
  await own.stop();
});

test("a round chooses the wait for the next one, and a wake-up ends it", async () => {
  const soon = async () => {
    begun.push(Date.now());
    return begun.length < 3 ? { againMs: 100 } : 0;
  };
  const own = loop({ round: soon, restMs: 8_000 });
  void own.start();
  await vi.advanceTimersByTimeAsync(1_150);
  expect(begun).toEqual([0, 100, 200]);
  await vi.advanceTimersByTimeAsync(50);
  expect(begun.slice(3)).toEqual([1_200]);
  own.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.slice(4)).toEqual([1_200]);
  await own.stop();
});
