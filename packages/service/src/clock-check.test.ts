import { expect, it, vi } from "vitest";
import { createClockCheck } from "./clock-check.ts";

it("is ready within half a minute of the database's clock, and logs a difference once", async () => {
  const log = { warn: vi.fn(), info: vi.fn() };
  let aheadMs = 0;
  const check = createClockCheck({ aheadMs: async () => aheadMs, log });
  const verdicts: unknown[] = [];
  for (aheadMs of [0, 1_999, 7_000, 29_000, 35_000, -35_000, -7_000, 0]) verdicts.push(await check());
  const [ahead, behind] = ["this machine's clock is 35 s ahead of the database's", "this machine's clock is 35 s behind the database's"];
  expect(verdicts).toEqual([true, true, true, true, ahead, behind, true, true]);
  expect([log.warn.mock.calls.length, log.info.mock.calls.length]).toEqual([1, 1]);
});
