import { expect, test } from "vitest";
import { cooldownAfter } from "./cooldown.ts";

test.each([
  [5, 0, 2_000, 250],
  [5, 1, 4_000, 500],
  [5, 2, 8_000, 1_000],
  [5, 100, 8_000, 2_000],
  [1_000, 0, 20_000, 5_000],
  [1_000, 100, 20_000, 5_000],
  [60_000, 0, 60_000, 15_000],
])("a pass of %i ms, idle %i times, has a cooldown of %i ms and a debounce of %i ms", (took, idle, cooldownMs, debounceMs) => {
  expect(cooldownAfter(took, idle)).toEqual({ cooldownMs, debounceMs });
});
