import { expect, test } from "vitest";
import { isOver, isQuotaLimit, quotaDefaults, quotaLimits } from "./quotas.ts";

test("stored values override the defaults, and unknown keys are ignored", () => {
  expect(quotaLimits([])).toEqual(quotaDefaults);
  const limits = quotaLimits([
    { key: "DSI_API_KEYS_MAX_COUNT", value: 5 },
    { key: "OF_LATER_MAX_COUNT", value: 1 },
    { key: "__proto__", value: 1 },
  ]);
  expect(limits).toEqual({ ...quotaDefaults, DSI_API_KEYS_MAX_COUNT: 5 });
});

test.each([
  [2, 2, false],
  [2, 3, true],
  [0, 3, false],
  [-1, 3, false],
])("a limit of %i and %i of them: %s", (limit, count, over) => expect(isOver(limit, count)).toBe(over));

test("limits of counts fit into 32 bits, and limits of bytes into JavaScript's whole numbers", () => {
  for (const limit of [0, -1, 2_147_483_647, -2_147_483_647]) expect(isQuotaLimit("TARGETS_MAX_COUNT", limit)).toBe(true);
  for (const limit of [2_147_483_648, -2_147_483_648, 1.5, Number.NaN]) expect(isQuotaLimit("TARGETS_MAX_COUNT", limit)).toBe(false);
  expect(isQuotaLimit("ARTIFACT_MAX_BYTES", Number.MAX_SAFE_INTEGER)).toBe(true);
  expect(isQuotaLimit("ARTIFACT_MAX_BYTES", 1e300)).toBe(false);
});
