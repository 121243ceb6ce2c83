import { expect, test } from "vitest";
import { type Frame, fitted, linesOf } from "./screen.ts";

/** A frame of five groups, of which so many are over. */
const frame = (over: number, foot?: string): Frame => ({
  head: "head",
  lines: ["a", "b", "c", "d", "e"].map((text, n) => ({ text, isOver: n < over })),
  foot,
});

test.each([
  [0, 24, ["head", "a", "b", "c", "d", "e", "foot"]],
  [0, 7, ["head", "a", "b", "c", "d", "e", "foot"]],
  [0, 6, ["head", "a", "b", "c", "   … 2 more", "foot"]],
  [1, 6, ["head", "b", "c", "d", "   … 2 more", "foot"]],
  [4, 6, ["head", "c", "d", "e", "   … 2 more", "foot"]],
  [5, 5, ["head", "d", "e", "   … 3 more", "foot"]],
  [0, 4, ["head", "a", "   … 4 more", "foot"]],
  [0, 2, ["head", "a"]],
  [0, 1, ["head"]],
] as const)("a frame of which %i groups are over has room in %i rows", (over, rows, lines) => {
  expect(fitted(frame(over, "foot"), rows)).toEqual(lines);
});

test("a frame without a foot uses its row", () => {
  expect(fitted(frame(0), 6)).toEqual(linesOf(frame(0)));
  expect(fitted(frame(2), 4)).toEqual(["head", "c", "d", "   … 3 more"]);
});
