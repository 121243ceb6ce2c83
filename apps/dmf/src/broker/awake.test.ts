import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Awake } from "./awake.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

it("a process that stands still for longer than it may notices that once, with its timer or when it is asked before", () => {
  const onPause = vi.fn();
  const awake = new Awake(onPause);
  vi.advanceTimersByTime(60_000);
  expect(onPause).not.toHaveBeenCalled();
  vi.setSystemTime(75_000);
  awake.check();
  expect(onPause).not.toHaveBeenCalled();
  vi.setSystemTime(90_001);
  awake.check();
  awake.check();
  expect(onPause).toHaveBeenCalledTimes(1);
  vi.setSystemTime(110_000);
  vi.advanceTimersByTime(1_000);
  expect(onPause).toHaveBeenCalledTimes(2);
  awake.stop();
});
