import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backOff } from "./back-off.ts";
import { Outage } from "./outage.ts";

let lines: string[];
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
});
afterEach(() => vi.useRealTimers());

const outage = (graceMs?: number): Outage =>
  new Outage({
    failed: (error) => lines.push(String(error)),
    recovered: () => lines.push("recovered"),
    ...(graceMs === undefined ? {} : { graceMs }),
  });

test("of several failures in a row the first is logged, and the end of the outage", () => {
  const own = outage();
  for (const error of ["a", "b", "c"]) own.failed(error);
  own.succeeded();
  own.succeeded();
  own.failed("d");
  expect(lines).toEqual(["a", "recovered", "d"]);
});

test("before the first success a failure is logged only when it lasts", async () => {
  const own = outage(10_000);
  own.failed("a");
  await vi.advanceTimersByTimeAsync(9_999);
  own.failed("b");
  expect(lines).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  own.failed("c");
  own.failed("d");
  expect(lines).toEqual(["c"]);
});

test("after a success there is no grace period, and a success after unlogged failures is no recovery", () => {
  const own = outage(10_000);
  own.failed("a");
  own.succeeded();
  own.failed("b");
  expect(lines).toEqual(["b"]);
});

test.each([
  [1, 250],
  [2, 500],
  [6, 8_000],
  [7, 15_000],
  [1_000, 15_000],
])("the wait after %i failures in a row is %i ms", (attempts, ms) => {
  expect(backOff(attempts, { firstMs: 250, maxMs: 15_000 })).toBe(ms);
});
