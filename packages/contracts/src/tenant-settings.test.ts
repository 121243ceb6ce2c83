import { expect, test } from "vitest";
import { overdueMacro, pollLimits, pollSeconds } from "./tenant-settings.ts";

test("seconds of a time", () => {
  expect(pollSeconds("01:02:03", 1)).toBe(3723);
  expect(pollSeconds("01:02:03~10%, name==a -> 00:01:00", 1)).toBe(3723);
  expect(pollSeconds("soon", 1)).toBe(1);
});

test("a target is overdue after the polling time and the overdue time, by default five minutes each", () => {
  expect(pollLimits({ pollingTime: null, pollingOverdueTime: null })).toEqual({ expectedMs: 300_000, overdueMs: 600_000 });
  expect(overdueMacro({ pollingTime: "00:00:30", pollingOverdueTime: "00:01:00" }, 100_000)).toEqual({ OVERDUE_TS: 10_000 });
});
