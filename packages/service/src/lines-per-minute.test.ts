import { expect, test } from "vitest";
import { LinesPerMinute } from "./lines-per-minute.ts";

test("one origin has a few lines a minute, which leaves lines for the others, and all together have a limit", () => {
  let now = 0;
  const lines = new LinesPerMinute({ each: 2, all: 5 }, () => now);
  const allowed = (origin: string, times: number) => Array.from({ length: times }, () => lines.allows(origin)).filter(Boolean).length;
  expect(allowed("noisy", 1_000)).toBe(2);
  expect([allowed("a", 3), allowed("b", 3), allowed("c", 3)]).toEqual([2, 1, 0]);
  now = 60_000;
  expect(allowed("noisy", 3)).toBe(2);
});
