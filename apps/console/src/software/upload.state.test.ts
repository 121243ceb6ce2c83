import { expect, test } from "vitest";
import { agreement, partOf, rateOf } from "./upload.state.ts";

test("the rate is that of the samples, and says how long the rest takes", () => {
  const samples = [
    { at: 0, offset: 0 },
    { at: 2_000, offset: 8_000_000 },
  ];
  expect(rateOf(samples, 12_000_000)).toEqual({ perSecond: 4_000_000, leftMs: 1_000 });
  expect(rateOf(samples.slice(0, 1), 12_000_000)).toBeUndefined();
});

test("the last part is what is left", () =>
  expect([partOf(0, 8, 10), partOf(8, 8, 10)]).toEqual([
    [0, 8],
    [8, 10],
  ]));

test("hashes agree, differ, or one is missing", () =>
  expect([agreement("a", "a"), agreement("a", "b"), agreement(undefined, "b")]).toEqual(["agree", "differ", "noHash"]));
