import { Cron } from "croner";
import { afterEach, expect, it, vi } from "vitest";
import { openTimeReached, windowAt } from "./maintenance-window.ts";

const window = (schedule: string, duration: string, timezone = "+00:00") => ({ schedule, duration, timezone });
const at = (text: string) => Date.parse(text);
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const far = at("2090-01-01T00:00:00Z");
afterEach(() => vi.restoreAllMocks());

/** The same by going from window to window. */
function walked(of: ReturnType<typeof window>, sinceMs: number, amountMs: number): number {
  let [left, last] = [amountMs, sinceMs];
  for (;;) {
    const times = windowAt(of, last);
    if (times === undefined) return last;
    const start = Math.max(times.start, last);
    if (times.end - start >= left) return start + left;
    left -= times.end - start;
    last = times.end;
  }
}

const windows = [
  window("0 0 2 * * ?", "01:30"),
  window("0 0 2 * * ?", "23:59", "+05:45"),
  window("0 30 22 * * ?", "05:00", "-18:00"),
  window("0 0 * * * ?", "00:05"),
  window("0 0 * * * ?", "02:00"), // each runs into the next one
  window("0 0 * * * ?", "01:00"), // each begins where one ends
  window("0/2 * * * * ?", "00:00:01", "+01:00"),
  window("0 0 20 ? * FRI", "10:00", "+02:00"),
  window("0 0 20 ? * FRI-SUN", "10:00", "+02:00"),
  window("0 0 12,23 ? * MON,WED,THU", "12:00"),
  window("0 15 23 L * ?", "02:00", "-03:00"),
  window("0 15 10 L-3 * ?", "02:00"),
  window("0 0 9 15W * ?", "20:00"),
  window("0 0 9 ? * 6#3", "16:00"),
  window("0 0 22-2 ? 3,11 SUN", "03:00"),
  window("0 0 2 24 12 ? 2026", "04:00"), // once
];

it.each(windows)("$schedule for $duration at $timezone: the same moment as from window to window", (of) => {
  for (let n = 0; n < 60; n += 1) {
    const since = at("2026-10-23T19:13:07.250Z") + n * 6_911_117;
    const amount = 1_000 + ((n * 7_919_333) % (12 * hour));
    const many = of.schedule.startsWith("0/2") ? 7 * minute : Infinity;
    expect(openTimeReached(of, { sinceMs: since, amountMs: Math.min(amount, many), horizonMs: far })).toBe(
      walked(of, since, Math.min(amount, many)),
    );
  }
});

it("a schedule whose days never come is over at once, and one that has ended when its last window is", () => {
  const since = at("2026-11-21T10:00:00Z");
  const reached = (of: ReturnType<typeof window>, sinceMs = since) => openTimeReached(of, { sinceMs, amountMs: 5 * hour, horizonMs: far });
  expect(reached(window("0 0 2 30 2 ?", "01:00"))).toBe(since);
  expect(reached(window("0 0 23 24 12 ? 2026", "03:00"))).toBe(at("2026-12-25T02:00:00Z"));
  expect(reached(window("0 0 23 24 12 ? 2026", "03:00"), at("2026-12-25T02:00:00Z"))).toBe(at("2026-12-25T02:00:00Z"));
});

it("windows without a length are never open", () => {
  const since = at("2026-11-21T10:00:00Z");
  const clock = { sinceMs: since, amountMs: 1, horizonMs: since + 40 * day };
  expect(openTimeReached(window("0 * * * * ?", "00:00"), clock)).toBe(clock.horizonMs);
});

it("what is not reached at the horizon is answered with the horizon", () => {
  const since = at("2026-11-21T10:00:00Z");
  const nightly = window("0 0 2 * * ?", "01:00");
  expect(openTimeReached(nightly, { sinceMs: since, amountMs: 40 * hour, horizonMs: since + 31 * day })).toBe(since + 31 * day);
  expect(openTimeReached(nightly, { sinceMs: since, amountMs: 40 * hour, horizonMs: since + 50 * day })).toBe(at("2026-12-31T03:00:00Z"));
});

it("evaluates no schedule more often than it has days, however many windows there are and however many ask", () => {
  const steps = vi.spyOn(Cron.prototype, "nextRun");
  const since = at("2026-09-01T00:00:00Z");
  const ask = (of: ReturnType<typeof window>, n: number) =>
    openTimeReached(of, { sinceMs: since + n * 1_234, amountMs: 1_000 * hour, horizonMs: since + 60 * day });
  for (let n = 0; n < 2_000; n += 1) ask(window("0 0/3 * * * ?", "00:01:07"), n);
  expect(steps).not.toHaveBeenCalled();
  for (let n = 0; n < 2_000; n += 1) ask(window("0 0/3 * ? * MON-FRI", "00:01:07"), n);
  expect(steps.mock.calls.length).toBeLessThanOrEqual(62);
});
