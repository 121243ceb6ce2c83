import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equalShares, remainingShares, simulateGroups, splitGroups } from "./split-groups.ts";

const sizes = (pool: number, percentages: number[]) =>
  splitGroups(pool, remainingShares(percentages.map((percentage) => ({ filter: "", percentage: Math.fround(percentage) }))));

describe("splitGroups (contract rollouts.md §3, reference values)", () => {
  test.each([
    [10, 3, [3, 3, 4]],
    [20, 3, [7, 6, 7]],
    [100, 3, [33, 33, 34]],
    [10, 4, [3, 2, 3, 2]],
    [10, 6, [2, 2, 1, 2, 1, 2]],
    [100, 7, [14, 14, 14, 14, 15, 14, 15]],
    [2, 3, [1, 0, 1]],
    [3, 5, [1, 1, 0, 1, 0]],
    [1, 3, [0, 0, 1]],
  ])("%d targets in %d groups", (pool, n, expected) => {
    expect(splitGroups(pool, remainingShares(equalShares(n)))).toEqual(expected);
  });

  test.each([
    [1000, [30, 70], [300, 700]],
    [10, [30, 70], [3, 7]],
    [10, [20, 30, 50], [2, 3, 5]],
    [10, [50], [5]],
  ])("%d targets by percentages %j", (pool, percentages, expected) => {
    expect(sizes(pool, percentages)).toEqual(expected);
  });

  test("equal groups always take the whole pool", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000 }), fc.integer({ min: 1, max: 500 }), (pool, n) => {
        const split = splitGroups(pool, remainingShares(equalShares(n)));
        expect(split.reduce((sum, size) => sum + size, 0)).toBe(pool);
        expect(Math.min(...split)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("percentages count per filter", () => {
    const groups = [
      { filter: "a", percentage: 50 },
      { filter: "b", percentage: 100 },
      { filter: "a", percentage: 50 },
    ];
    expect(remainingShares(groups)).toEqual([50, 100, 100]);
  });
});

describe("simulateGroups (contract rollouts.md §3.5)", () => {
  const all = { matching: 10, overlapping: 10 };
  test.each([
    ["30 % and 70 %", [30, 70], [{ matching: 10, overlapping: 0 }, all], [3, 7]],
    ["one group of 50 %", [50], [{ matching: 10, overlapping: 0 }], [5]],
    ["two of 40 %", [40, 40], [{ matching: 10, overlapping: 0 }, all], [4, 4]],
  ])("%s without filters of their own", (_, percentages, counts, expected) => {
    expect(
      simulateGroups(
        percentages.map((percentage) => ({ filter: "", percentage })),
        counts,
      ),
    ).toEqual(expected);
  });

  test("disjoint filters of 100 % each", () => {
    const groups = [
      { filter: "a", percentage: 100 },
      { filter: "b", percentage: 100 },
    ];
    expect(
      simulateGroups(groups, [
        { matching: 6, overlapping: 0 },
        { matching: 4, overlapping: 0 },
      ]),
    ).toEqual([6, 4]);
  });

  test("alternating groups of two filters get what their own filter has left over", () => {
    const groups = ["a", "b", "a", "b"].map((filter) => ({ filter, percentage: 50 }));
    const first = { matching: 10, overlapping: 0 };
    expect(simulateGroups(groups, [first, first, all, all])).toEqual([5, 5, 5, 5]);
  });

  test("the remainder of an overlapped filter goes to the group that overlaps it", () => {
    const groups = [
      { filter: "a", percentage: 50 },
      { filter: "", percentage: 100 },
    ];
    expect(
      simulateGroups(groups, [
        { matching: 6, overlapping: 0 },
        { matching: 10, overlapping: 6 },
      ]),
    ).toEqual([3, 7]);
  });
});
