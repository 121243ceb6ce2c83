import { expect, test } from "vitest";
import { createChunkSize } from "./chunk-size.ts";

/** Returns the sizes of the next chunks if one row takes so many µs. */
function sizes(rowMicroseconds: number, n: number): number[] {
  const size = createChunkSize(4_000);
  return Array.from({ length: n }, () => {
    const rows = size.next();
    size.took(rows, (rows * rowMicroseconds) / 1_000);
    return rows;
  });
}

test("the size approaches what takes 200 ms, from either side", () => {
  expect(sizes(100, 8).at(-1)).toBeCloseTo(2_000, -2);
  expect(sizes(25, 8).at(-1)).toBeCloseTo(8_000, -2);
  expect(sizes(50, 3)).toEqual([4_000, 4_000, 4_000]);
});

test("the size stays within its limits, however slow or fast the database is", () => {
  expect(sizes(10_000, 12).at(-1)).toBe(1_000);
  expect(sizes(1, 12).at(-1)).toBe(10_000);
});

test("the end of a group and a clock that stood still do not change the size", () => {
  const size = createChunkSize(4_000);
  size.took(3, 900);
  size.took(4_000, 0);
  expect(size.next()).toBe(4_000);
});
