import { expect, test } from "vitest";
import { findBreak, maxSearched } from "./json-position.ts";

test.each([
  ["", 1, 1],
  ["{", 1, 2],
  ["[1,]", 1, 4],
  ['{"a" 1}', 1, 6],
  ['{"a":1,}', 1, 8],
  ['{"a":1}}', 1, 8],
  ['{"a":tru}', 1, 6],
  ["[01]", 1, 3],
  ["[1.]", 1, 3],
  ["{a:1}", 1, 2],
  ["['a']", 1, 2],
  ['["a\\x"]', 1, 4],
  ['["a\nb"]', 1, 4],
  ['{\n  "a": [\n    1 2]}', 3, 7],
  ['{\r\n "a" = 1}', 2, 6],
  ["[1}", 1, 3],
  ["xyz", 1, 1],
  ["NaN", 1, 1],
])("%j breaks at line %i, column %i", (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findBreak(text)).toEqual({ line, column });
});

test.each(['{"a":[1,-2.5e+3,{"b":null}],"c":"\\u00e4\\n"}', " [] ", "{}", '"x"', "5", "true", '[[],{},""]'])("%j is complete", (text) => {
  JSON.parse(text);
  expect(findBreak(text)).toBeUndefined();
});

test("finds the end of every text that is cut off", () => {
  const text = JSON.stringify({ name: "a\\b", list: [1, { deep: [true, null, "x"] }] });
  for (let length = 0; length < text.length; length++) {
    const { column = 0 } = findBreak(text.slice(0, length)) ?? {};
    expect(column).toBeGreaterThan(0);
    expect(column).toBeLessThanOrEqual(length + 1);
  }
});

test("handles long and deep texts, and searches no further than its limit", () => {
  expect(findBreak("[".repeat(500_000))).toEqual({ line: 1, column: 500_001 });
  expect(findBreak(`["${"x".repeat(500_000)}`)).toEqual({ line: 1, column: 500_003 });
  expect(findBreak("\n".repeat(300_000))).toEqual({ line: 300_001, column: 1 });
  expect(findBreak(`["${"x".repeat(maxSearched)}`)).toBeUndefined();
});
