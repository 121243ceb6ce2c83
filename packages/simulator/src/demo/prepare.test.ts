import { expect, it } from "vitest";
import { errorLimit } from "./prepare.ts";

it.each([
  [0.05, 200, 30],
  [0, 200, 30],
  [0.3, 200, 82],
  [0.05, 40, 100],
  [1, 200, 100],
])("with %d failures in %d devices the rollout pauses above %d %%", (fail, devices, limit) => {
  expect(errorLimit(fail, devices)).toBe(limit);
});
