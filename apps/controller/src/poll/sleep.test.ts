import { describe, expect, test } from "vitest";
import { pollingPlan } from "../settings/polling-plan.ts";
import { sleepOf } from "./sleep.ts";

const planOf = (pollingTime: string, more: { minPollingTime?: string; maintenanceWindowPollCount?: number } = {}) =>
  pollingPlan({ pollingTime, pollingOverdueTime: "00:05:00", minPollingTime: "00:00:30", maintenanceWindowPollCount: 3, ...more });
const nothing = { maintenance: null };
const now = Date.parse("2026-11-21T12:00:00.400Z");
const seconds = (sleep: string) => {
  const [h = 0, m = 0, s = 0] = sleep.split(":").map(Number);
  return h * 3_600 + m * 60 + s;
};

test("the polling time, and the place of an override", () => {
  const plan = planOf("00:02:00, controllerid == a -> 00:01:00, name == b -> PT1H");
  expect(sleepOf(plan, nothing, "d", now)).toBe("00:02:00");
  expect(sleepOf(plan, { ...nothing, override: null }, "d", now)).toBe("00:02:00");
  expect(sleepOf(plan, { ...nothing, override: 0 }, "d", now)).toBe("00:01:00");
  expect(sleepOf(plan, { ...nothing, override: 1 }, "d", now)).toBe("01:00:00");
});

test("equal settings have one plan; those that cannot be read are the default", () => {
  expect(planOf("00:07:00")).toBe(planOf("00:07:00"));
  expect(sleepOf(planOf("never"), nothing, "d", now)).toBe("00:05:00");
});

describe("jitter", () => {
  const plan = planOf("01:00:00~10%");
  const sleeps = Array.from({ length: 2_000 }, (_, i) => sleepOf(plan, nothing, `device-${i}`, now));

  test("each device is within the percentage, always at the same place", () => {
    for (const [i, sleep] of sleeps.entries()) {
      expect(sleep).toMatch(/^\d\d:\d\d:\d\d$/);
      expect(seconds(sleep)).toBeGreaterThanOrEqual(3_240);
      expect(seconds(sleep)).toBeLessThanOrEqual(3_960);
      expect(sleepOf(plan, nothing, `device-${i}`, now + 1_000)).toBe(sleep);
    }
  });

  test("devices fill the whole range evenly", () => {
    const tenths = new Array(10).fill(0);
    for (const sleep of sleeps) tenths[Math.min(9, Math.floor((seconds(sleep) - 3_240) / 72))] += 1;
    for (const n of tenths) expect(n).toBeGreaterThan(140);
  });

  test("it is never below the tenant's minimum and never a day", () => {
    for (let i = 0; i < 200; i++) {
      expect(seconds(sleepOf(planOf("00:00:30~99%"), nothing, `d${i}`, now))).toBeGreaterThanOrEqual(30);
      expect(seconds(sleepOf(planOf("23:59:59~99%"), nothing, `d${i}`, now))).toBeLessThanOrEqual(86_399);
      expect(seconds(sleepOf(planOf("00:02:00~50%", { minPollingTime: "00:02:00" }), nothing, `d${i}`, now))).toBeGreaterThanOrEqual(120);
    }
  });

  test("an override has a jitter of its own", () => {
    const own = planOf("00:05:00, name==a -> 01:00:00~10%");
    const found = new Set(Array.from({ length: 50 }, (_, i) => sleepOf(own, { ...nothing, override: 0 }, `d${i}`, now)));
    expect(found.size).toBeGreaterThan(20);
    expect(sleepOf(own, nothing, "d1", now)).toBe("00:05:00");
  });
});

describe("the polling time before a maintenance window (contract device.md §3.4)", () => {
  /** Makes a window of an hour that starts at this time of the day of `now`. */
  const startingAt = (time: string) => {
    const [h, m, s] = time.split(":").map(Number);
    return { maintenance: { schedule: `${s} ${m} ${h} * * ?`, duration: "01:00", timezone: "+00:00" } };
  };
  const plan = planOf("00:05:00");

  test.each([
    ["12:09:00", "00:02:59"], // 9 minutes less a moment, in three parts
    ["12:09:01", "00:03:00"],
    ["12:16:00", "00:05:00"],
    ["13:00:00", "00:05:00"],
    ["12:01:29", "00:00:30"],
    ["12:00:05", "00:00:30"],
    // the window is running, or over for today
    ["12:00:00", "00:05:00"],
    ["11:30:00", "00:05:00"],
    ["10:00:00", "00:05:00"],
  ])("it starts at %s", (time, expected) => {
    expect(sleepOf(plan, startingAt(time), "d", now)).toBe(expected);
  });

  test("the device polls as often as the tenant wants, and not below its minimum", () => {
    expect(sleepOf(planOf("00:05:00", { maintenanceWindowPollCount: 9 }), startingAt("12:09:01"), "d", now)).toBe("00:01:00");
    expect(sleepOf(planOf("00:05:00", { minPollingTime: "00:04:00" }), startingAt("12:09:01"), "d", now)).toBe("00:04:00");
  });

  test("without a further window the polling time is the usual one", () => {
    const past = { maintenance: { schedule: "0 0 2 * * ? 2020", duration: "01:00", timezone: "+00:00" } };
    expect(sleepOf(plan, past, "d", now)).toBe("00:05:00");
  });

  test("the usual polling time is the target's own", () => {
    const overridden = planOf("00:05:00, name==a -> 00:01:00");
    expect(sleepOf(overridden, { ...startingAt("12:09:01"), override: 0 }, "d", now)).toBe("00:01:00");
  });
});
