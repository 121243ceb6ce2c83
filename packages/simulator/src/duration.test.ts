import { expect, it } from "vitest";
import { parseDuration, parseSleep } from "./duration.ts";

it.each([
  ["500ms", 500],
  ["5s", 5_000],
  ["5", 5_000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
])("%s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each(["", "s", "-1s", "5 seconds"])("%s is no duration", (text) => {
  expect(() => parseDuration(text)).toThrow("duration");
});

it("reads the sleep of a poll", () => {
  expect(parseSleep("00:05:30")).toBe(330_000);
  expect(parseSleep("PT5M")).toBeUndefined();
});
