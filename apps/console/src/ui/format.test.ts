import { expect, test } from "vitest";
import { ago, bytes, plural, span } from "./format.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.00 kB"],
  [15_320, "15.3 kB"],
  [8_388_608, "8.39 MB"],
  [123_456_789_012, "123 GB"],
])("%d bytes are %s", (value, text) => expect(bytes(value)).toBe(text));

test.each([
  [0, "0 s"],
  [59_400, "59 s"],
  [6_720_000, "1 h 52 min"],
  [3_600_000, "1 h"],
  [90_061_000, "1 d 1 h"],
])("%d ms are %s", (value, text) => expect(span(value)).toBe(text));

test("a moment is told in its largest unit", () => {
  expect(ago(1_000, 1_500)).toBe("now");
  expect(ago(0, 240_000)).toContain("4 min");
  expect(ago(600_000, 0)).toContain("in 10 min");
});

test("a number chooses its word", () => {
  expect([plural(1, "device", "devices"), plural(1200, "device", "devices")]).toEqual(["1 device", "1,200 devices"]);
});
