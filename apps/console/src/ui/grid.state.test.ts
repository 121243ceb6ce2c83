import { expect, test } from "vitest";
import { maxHeight, movedTo, nextSort, pagesOf, rowStep } from "./grid.state.ts";

test("the visible rows name their pages", () => expect(pagesOf([198, 199, 200, 399], 200)).toEqual([0, 1]));

test("a million rows are no higher than a browser scrolls", () => {
  expect(rowStep(40, 1000)).toBe(40);
  expect(rowStep(40, 1_000_000) * 1_000_000).toBeLessThanOrEqual(maxHeight);
});

test.each([
  ["ArrowDown", 4],
  ["k", 2],
  ["PageDown", 9],
  ["PageUp", 0],
  ["End", 9],
  ["x", undefined],
])("%s leads to row %s", (key, row) => expect(movedTo(key, 3, 10, 20)).toBe(row));

test("a column is sorted up, down, and not at all", () => {
  expect(nextSort(undefined, "name")).toBe("name:ASC");
  expect(nextSort("name:ASC", "name")).toBe("name:DESC");
  expect(nextSort("name:DESC", "name")).toBeUndefined();
  expect(nextSort("name:DESC", "id")).toBe("id:ASC");
});
