import { expect, test } from "vitest";
import { csvOf, monthOf, secondsOf } from "./reports.state.ts";

test.each([
  ["2026-10", "2026-10"],
  ["2026-13", undefined],
  ["2026", undefined],
  ["", undefined],
  [undefined, undefined],
])("the month %j reads as %j", (text, month) => {
  expect(monthOf(text)).toBe(month);
});

test("a month begins at its first day, UTC", () => expect(secondsOf("1970-02")).toBe(31 * 86_400));

test("a report is copied with its head, and what is not known is empty", () => {
  const rows = [
    { month: "2026-09", coverage: "none" },
    { month: "2026-10", coverage: "full", count: 3 },
  ];
  const series = [{ label: 'a "b", c', colour: "", value: (row: { count?: number }) => row.count }];
  expect(csvOf("Month", rows, series)).toBe('Month,"a ""b"", c"\n2026-09,\n2026-10,3');
});
