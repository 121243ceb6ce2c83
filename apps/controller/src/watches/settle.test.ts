import { expect, test } from "vitest";
import { endsOf, overAt } from "./settle.ts";

const [hour, day] = [3_600_000, 86_400_000];
const now = Date.parse("2026-03-01T12:30:00Z");
const hourly = { schedule: "0 0 * * * ?", duration: "00:05:00", timezone: "+00:00" };

test("beyond 2.13 a limit of many windows is reached, however many have passed", () => {
  const clock = { ...hourly, sinceMs: now - 60 * day, limitMs: 24 * hour };
  // 288 windows of five minutes: the first one at 13:00, the last one 287 hours later
  expect(overAt(clock, now)).toBe(now - 60 * day + 0.5 * hour + 287 * hour + hour / 12);
  expect(overAt({ ...clock, sinceMs: now - 12 * day }, now)).toBe(now + 0.5 * hour - hour + hour / 12);
  expect(overAt({ ...clock, sinceMs: now - 11 * day }, now)).toBeGreaterThan(now + 22 * hour);
});

test("beyond 2.13 a clock that is not over for a month is read again when the month is", () => {
  const clock = { ...hourly, sinceMs: now, limitMs: 24 * 30 * hour };
  expect(overAt(clock, now)).toBe(now + 31 * day);
  expect(overAt(clock, now + 31 * day)).toBe(now + 62 * day);
  expect(overAt(clock, now + 359 * day)).toBe(now + 0.5 * hour + (12 * 720 - 1) * hour + hour / 12);
});

test("a clock is never over before its time, which has fractions of milliseconds in the database", () => {
  const clock = { ...hourly, sinceMs: now + 0.5 * hour + 0.25, limitMs: 1000 };
  expect(overAt(clock, now)).toBe(now + 0.5 * hour + 1001);
});

// The time of the thread itself: a machine that is busy with something else makes it no longer.
test("2,000 clocks with as many different windows never keep a poll waiting for a tenth of a second", async () => {
  const rows = Array.from({ length: 2_000 }, (_, n) => ({
    schedule: `${n % 60} ${Math.floor(n / 60)} * ${n % 2 === 0 ? "* * ?" : "? * MON-FRI"}`,
    duration: "00:05:00",
    timezone: "+00:00",
    sinceMs: now - 60 * day - n,
    limitMs: (n % 100) * hour,
  }));
  let [longest, turns, done] = [0, 0, false];
  let last = process.threadCpuUsage();
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    turns += 1;
    last = process.threadCpuUsage();
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  const ends = await endsOf(rows, now);
  done = true;
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toHaveLength(rows.length);
  expect(ends.slice(-20)).toEqual(rows.slice(-20).map((row) => overAt(row, now)));
  expect(turns).toBeGreaterThan(10);
  expect(longest).toBeLessThan(100);
});
