import { expect, test } from "vitest";
import { leastWidth, maxHeight, mostRows, movedTo, nextSort, offsetFor, pagesOf, rowStep, rowsAt, type Seen } from "./grid.state.ts";

test("the visible rows name their pages", () => expect(pagesOf([198, 199, 200, 399], 200)).toEqual([0, 1]));

test("a million rows are no higher than a browser scrolls", () => {
  expect(rowStep(40, 1000)).toBe(40);
  expect(rowStep(40, 1_000_000) * 1_000_000).toBeLessThanOrEqual(maxHeight);
});

const view = 800;
const seen = (offset: number, more: Partial<Seen> = {}): Seen => ({ offset, view, total: 1_000_000, rowHeight: 40, ...more });
const endOf = (total: number) => total * rowStep(40, total) - view;
/** The rows of which something is in the window. */
const inWindow = (at: Seen) => rowsAt(at).filter(({ start }) => start + at.rowHeight > at.offset && start < at.offset + at.view);

test.each([
  ["few rows", 10, 0, 0, 10],
  ["a thousand rows at their begin", 1_000, 0, 0, 28],
  ["a thousand rows in between", 1_000, 20_000, 492, 528],
  ["a thousand rows at their end", 1_000, endOf(1_000), 972, 1_000],
  ["a million rows at their begin", 1_000_000, 0, 0, 28],
  ["a million rows in the middle", 1_000_000, endOf(1_000_000) / 2, 499_982, 500_018],
  ["a million rows at their end", 1_000_000, endOf(1_000_000), 999_972, 1_000_000],
])("of %s those around the window are drawn", (_, total, offset, first, end) => {
  const rows = rowsAt(seen(offset, { total }));
  expect([rows[0]?.index, (rows.at(-1)?.index ?? 0) + 1]).toEqual([first, end]);
});

test.each([1_000, 375_000, 375_001, 1_000_000, 10_000_000])("of %s rows each has its real height, and the window is full", (total) => {
  const end = endOf(total);
  for (const offset of [0, 1, 17, 1_234, end / 3, end / 2, end - 7, end]) {
    const at = seen(offset, { total });
    const rows = rowsAt(at);
    for (const [index, row] of rows.slice(1).entries()) expect(row.start - (rows[index]?.start ?? 0)).toBe(40);
    const shown = inWindow(at);
    expect(shown[0]?.start).toBeLessThanOrEqual(Math.ceil(offset));
    expect((shown.at(-1)?.start ?? 0) + 40).toBeGreaterThanOrEqual(Math.floor(offset + view));
  }
});

test("rows that a browser can scroll lie where their number says", () => {
  expect(rowsAt(seen(4_000, { total: 1_000 }))[8]).toEqual({ index: 100, start: 4_000 });
});

test.each([
  [400, 26],
  [1_600, 56],
  [2_000, mostRows],
  [2_320, mostRows],
  [4_000, mostRows],
])("in a window of %s px there are %s rows in the document", (height, rows) =>
  expect(rowsAt(seen(4_000_000, { total: 375_000, view: height }))).toHaveLength(rows),
);

test("before the window has a height, or beyond its ends, nothing breaks", () => {
  expect(rowsAt(seen(0, { view: -36 }))).toEqual([]);
  expect(rowsAt(seen(0, { total: 0 }))).toEqual([]);
  expect(rowsAt(seen(-50))).toEqual(rowsAt(seen(0)));
  expect(rowsAt(seen(maxHeight))).toEqual(rowsAt(seen(endOf(1_000_000))));
});

test.each([10, 1_000, 1_000_000, 10_000_000])("each of %s rows can be scrolled to, and is then wholly seen", (total) => {
  for (const row of [0, 1, 5, total / 2, total - 2, total - 1]) {
    for (const from of [0, endOf(total) / 2, endOf(total)].map((offset) => Math.max(0, Math.floor(offset)))) {
      const at = seen(offsetFor(row, seen(from, { total })), { total });
      const start = rowsAt(at).find(({ index }) => index === row)?.start ?? Number.NaN;
      expect(start - at.offset).toBeGreaterThanOrEqual(-1);
      expect(start + 40 - at.offset).toBeLessThanOrEqual(view + 1);
    }
  }
});

test("a row that is seen moves nothing, and the next below moves by one row", () => {
  const thousand = { total: 1_000 };
  expect(offsetFor(105, seen(4_000, thousand))).toBe(4_000);
  expect(offsetFor(120, seen(4_000, thousand))).toBe(4_040);
  expect(offsetFor(99, seen(4_000, thousand))).toBe(3_960);
});

test("a row is as wide as its columns at their least", () =>
  expect(leastWidth(["20px", "minmax(180px, 1fr)", "120px"])).toBe(20 + 180 + 120 + 32 + 32));

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
