import { expect, test } from "vitest";
import { around, problemIn } from "./problem.ts";

test.each([
  ["name=a", 4],
  ["name==a;;", 8],
  ["name==", 6],
  ["(name==a", 8],
])("of %s the character %i does not fit", (query, at) => expect(problemIn(query)?.at).toBe(at));

test("nothing is wrong with an empty query and with one that can be read", () => {
  expect([problemIn(" "), problemIn("name==a;tag!=b")]).toEqual([undefined, undefined]);
});

test("a place is shown with what is around it, and the end of the query as a blank", () => {
  expect(around("name=a", 5)).toEqual(["name=", "a", ""]);
  expect(around("name==", 6)).toEqual(["name==", "\u00a0", ""]);
  const [before, there, behind] = around(`${"a".repeat(50)}!${"b".repeat(50)}`, 50);
  expect([before, there, behind]).toEqual([`…${"a".repeat(40)}`, "!", `${"b".repeat(24)}…`]);
});
