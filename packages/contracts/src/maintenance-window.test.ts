import { describe, expect, it } from "vitest";
import { isWindowOpen, parseMaintenanceWindow, upcomingMaintenanceWindow, windowAt, windowsEnd } from "./maintenance-window.ts";

const window = (schedule: string, duration = "01:00:00", timezone = "+00:00") => ({ schedule, duration, timezone });
const at = (text: string) => Date.parse(text);
const shown = (times: { start: number; end: number } | undefined) =>
  times === undefined ? undefined : [new Date(times.start).toISOString(), new Date(times.end).toISOString()];
const starts = (schedule: string, from: string, count: number) => {
  const found: string[] = [];
  let now = at(from);
  for (let i = 0; i < count; i++) {
    const next = windowAt(window(schedule, "00:00:01"), now);
    if (next === undefined) break;
    found.push(new Date(next.start).toISOString().slice(0, 16));
    now = next.end;
  }
  return found;
};

describe("parseMaintenanceWindow", () => {
  it("accepts all three parts or none; an empty part is absent", () => {
    expect(parseMaintenanceWindow({})).toBeUndefined();
    expect(parseMaintenanceWindow({ schedule: "", duration: "", timezone: undefined })).toBeUndefined();
    expect(parseMaintenanceWindow(window("0 0 2 * * ?"))).toEqual(window("0 0 2 * * ?"));
  });

  it.each([
    [{ schedule: "0 0 2 * * ?" }],
    [{ schedule: "0 0 2 * * ?", duration: "01:00" }],
    [{ duration: "01:00", timezone: "+00:00" }],
    [window(`0 0 2 * * ?${" ".repeat(128)}`)],
    [window("not a cron")],
    [window("0 0 2 * *")],
    [window("0 0 2 * * ? * *")],
    [window("@daily")],
  ])("refuses %j", (parts) => {
    expect(() => parseMaintenanceWindow(parts)).toThrow(expect.objectContaining({ code: "maintenanceScheduleInvalid" }));
  });

  it.each(["0 0 2 * * *", "0 0 2 ? * ?", "0 0 2 1 * MON"])("refuses %s: one of the two day fields must be ?", (schedule) => {
    expect(() => parseMaintenanceWindow(window(schedule))).toThrow(/exactly one/);
  });

  it.each([
    ["60 * * * * ?", "seconds"],
    ["0 0 24 * * ?", "hours"],
    ["0 0 2 0 * ?", "day of month"],
    ["0 0 2 32W * ?", "day of month"],
    ["0 0 2 L-28 * ?", "day of month"],
    ["0 0 2 * 13 ?", "month"],
    ["0 0 2 ? * 8", "day of week"],
    ["0 0 2 ? * 0L", "day of week"],
    ["0 0 2 ? * MON#6", "day of week"],
    ["0 0 2 ? * XXX", "day of week"],
    ["0 0/0 2 * * ?", "minutes"],
    ["0 1/2/3 2 * * ?", "minutes"],
    ["0 1-2-3 2 * * ?", "minutes"],
    ["0 0 2 * * ? 1969", "year"],
    ["0 0 2 * * ? 2100", "year"],
    ["0 0 2 * * ? 2030-2027", "year"],
  ])("names for %s the wrong field %s", (schedule, field) => {
    expect(() => parseMaintenanceWindow(window(schedule))).toThrow(`the field ${field} `);
  });

  it.each(["1:00", "01:60", "24:00", "01", "01:00:60", "PT1H", "01:00:00.5"])("refuses the duration %s", (duration) => {
    expect(() => parseMaintenanceWindow(window("0 0 2 * * ?", duration))).toThrow(/duration/);
  });

  it.each(["Europe/Berlin", "+19:00", "+18:01", "+1:30", "0", "+", "+100", "+01:60", "UTC", "+01:00:00"])(
    "refuses the timezone %s",
    (timezone) => {
      expect(() => parseMaintenanceWindow(window("0 0 2 * * ?", "01:00", timezone))).toThrow(/timezone/);
    },
  );
});

describe("the times of a schedule", () => {
  it.each([
    ["15 30 2 * * ?", ["2026-11-22T02:30", "2026-11-23T02:30"]],
    ["0 0 2 ? * MON", ["2026-11-23T02:00", "2026-11-30T02:00"]],
    ["0 0 2 ? * 2", ["2026-11-23T02:00", "2026-11-30T02:00"]],
    ["0 0 2 ? * mon-fri", ["2026-11-23T02:00", "2026-11-24T02:00"]],
    ["0 0 2 ? * FRI-SUN", ["2026-11-22T02:00", "2026-11-27T02:00", "2026-11-28T02:00", "2026-11-29T02:00", "2026-12-04T02:00"]],
    ["0 0 2 ? * L", ["2026-11-28T02:00", "2026-12-05T02:00"]],
    ["0 0 2 ? * 6L", ["2026-11-27T02:00", "2026-12-25T02:00"]],
    ["0 0 2 ? * MON#3,FRIL", ["2026-11-27T02:00", "2026-12-21T02:00"]],
    ["0 0 2 L * ?", ["2026-11-30T02:00", "2026-12-31T02:00"]],
    ["0 0 2 L-3 * ?", ["2026-11-27T02:00", "2026-12-28T02:00", "2027-01-28T02:00", "2027-02-25T02:00"]],
    ["0 0 2 LW * ?", ["2026-11-30T02:00", "2026-12-31T02:00", "2027-01-29T02:00"]],
    [
      "0 0 2 15W * ?",
      ["2026-12-15T02:00", "2027-01-15T02:00", "2027-02-15T02:00", "2027-03-15T02:00", "2027-04-15T02:00", "2027-05-14T02:00"],
    ],
    ["0 0 2 1,15 * ?", ["2026-12-01T02:00", "2026-12-15T02:00"]],
    ["0 0/20 2 * * ?", ["2026-11-22T02:00", "2026-11-22T02:20", "2026-11-22T02:40", "2026-11-23T02:00"]],
    ["0 /30 2 * * ?", ["2026-11-22T02:00", "2026-11-22T02:30", "2026-11-23T02:00"]],
    ["0 10-30/10 2 * * ?", ["2026-11-22T02:10", "2026-11-22T02:20", "2026-11-22T02:30", "2026-11-23T02:10"]],
    ["0 0 23-1 * * ?", ["2026-11-21T23:00", "2026-11-22T00:00", "2026-11-22T01:00", "2026-11-22T23:00"]],
    ["0 0 2 1 NOV-JAN ?", ["2026-12-01T02:00", "2027-01-01T02:00", "2027-11-01T02:00"]],
    ["0 0 2 29 2 ?", ["2028-02-29T02:00", "2032-02-29T02:00"]],
    ["0 0 2 1 1 ? 2027/2", ["2027-01-01T02:00", "2029-01-01T02:00"]],
    ["5 4 3 ? 12 * 2026", ["2026-12-01T03:04", "2026-12-02T03:04"]],
    ["0 0 2 1 1 ? 2027", ["2027-01-01T02:00"]],
    ["0 0 2 30 2 ?", []],
    ["0 0 2 * * ? 2020", []],
  ])("%s", (schedule, expected) => {
    expect(starts(schedule, "2026-11-21T10:00:00Z", Math.max(2, expected.length))).toEqual(expected);
  });
});

describe("windowAt", () => {
  const nightly = window("0 0 2 * * ?", "01:30");
  const running = ["2026-11-21T02:00:00.000Z", "2026-11-21T03:30:00.000Z"];
  const next = ["2026-11-22T02:00:00.000Z", "2026-11-22T03:30:00.000Z"];

  it.each([
    ["2026-11-21T00:00:00Z", running],
    ["2026-11-21T02:00:00Z", running],
    ["2026-11-21T03:29:59.999Z", running],
    // a window counts if it starts strictly after now - duration: at its very end it is over
    ["2026-11-21T03:30:00Z", next],
    ["2026-11-21T10:00:00Z", next],
    // the time goes back, so an answer that was kept must not be used before its time
    ["2026-11-20T10:00:00Z", running],
    ["2026-11-19T01:00:00Z", ["2026-11-19T02:00:00.000Z", "2026-11-19T03:30:00.000Z"]],
  ])("at %s", (now, expected) => {
    expect(shown(windowAt(nightly, at(now)))).toEqual(expected);
  });

  it.each([
    ["+02:00", "2026-11-22T00:00:00.000Z"],
    ["-05:30", "2026-11-22T07:30:00.000Z"],
    ["+0545", "2026-11-21T20:15:00.000Z"],
    ["+18:00", "2026-11-22T08:00:00.000Z"],
    ["-18", "2026-11-21T20:00:00.000Z"],
    ["+2", "2026-11-22T00:00:00.000Z"],
    ["-00:00", "2026-11-22T02:00:00.000Z"],
    ["Z", "2026-11-22T02:00:00.000Z"],
  ])("reads the schedule in the offset %s", (timezone, start) => {
    expect(shown(windowAt(window("0 0 2 * * ?", "00:10", timezone), at("2026-11-21T12:00:00Z")))?.[0]).toBe(start);
  });

  it("is open between its start and its end, but not at them", () => {
    const openAt = (now: string) => isWindowOpen(nightly, at(now));
    expect(["01:59:59.999", "02:00:00.000", "03:30:00.000", "10:00:00.000"].map((time) => openAt(`2026-11-21T${time}Z`))).toEqual(
      Array(4).fill(false),
    );
    expect(["02:00:00.001", "03:29:59.999"].map((time) => openAt(`2026-11-21T${time}Z`))).toEqual([true, true]);
    expect(isWindowOpen(window("0 0 2 * * ?", "00:00"), at("2026-11-21T02:00:00.001Z"))).toBe(false);
  });

  it("answers undefined once the last window has ended", () => {
    const once = window("0 0 2 1 1 ? 2027");
    expect(shown(windowAt(once, at("2027-01-01T02:59:59Z")))?.[1]).toBe("2027-01-01T03:00:00.000Z");
    expect(windowAt(once, at("2027-01-01T03:00:00Z"))).toBeUndefined();
  });

  it("answers correctly for more windows than are kept parsed", () => {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 600; i++) {
        const found = windowAt(window(`${i % 60} ${Math.floor(i / 60)} 2 * * ?`), at("2026-11-21T10:00:00Z"));
        expect(found?.start).toBe(at("2026-11-22T02:00:00Z") + (Math.floor(i / 60) * 60 + (i % 60)) * 1_000);
      }
    }
  });
});

describe("windowsEnd", () => {
  const now = at("2026-11-21T10:00:00Z");

  it.each([
    ["0 0 2 * * ?", undefined],
    ["0 0 2 * * ? *", undefined],
    ["0 0 2 29 2 ?", undefined],
    ["0 0 2 * * ? 2026", "2026-12-31T02:00:00.000Z"],
    ["0 0 2 L 2 ? 2026-2028", "2028-02-29T02:00:00.000Z"],
    ["0 0 2 1 1 ? 2020", "2020-01-01T02:00:00.000Z"],
  ])("%s", (schedule, start) => {
    const end = windowsEnd(window(schedule, "01:00", "+01:00"), now);
    // the offset of one hour and the length of one hour cancel each other out
    expect(end === undefined ? undefined : new Date(end).toISOString()).toBe(start);
  });

  it("is now if the schedule's days never come", () => {
    expect(windowsEnd(window("0 0 2 30 2 ?"), now)).toBe(now);
    expect(windowsEnd(window("0 0 2 30 2 ? 2027"), now)).toBe(now);
  });

  it("agrees with windowAt on when the last window is over", () => {
    const end = windowsEnd(window("0 0 2 1 1 ? 2027"), now) as number;
    expect(windowAt(window("0 0 2 1 1 ? 2027"), end - 1)).toBeDefined();
    expect(windowAt(window("0 0 2 1 1 ? 2027"), end)).toBeUndefined();
  });
});

it("upcomingMaintenanceWindow accepts only windows that run or are still to come", () => {
  const [last, now] = [window("0 0 2 24 12 ? 2098"), at("2098-12-24T02:30:00Z")];
  expect(upcomingMaintenanceWindow(undefined, now)).toBeUndefined();
  expect(upcomingMaintenanceWindow(last, now)).toEqual(last);
  expect(() => upcomingMaintenanceWindow(last, at("2098-12-24T03:00:00Z"))).toThrow("no further window");
});
