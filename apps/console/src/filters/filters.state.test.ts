import { expect, test } from "vitest";
import { byName, statusOf, stepsOf, weightOf } from "./filters.state.ts";

test.each([
  ["waiting_for_approval", ["approve", "deny"]],
  ["ready", ["start"]],
  ["running", ["pause"]],
  ["paused", ["resume"]],
  ["approval_denied", []],
])("of an auto-assignment that is %s the steps %j are offered", (status, steps) => {
  expect(stepsOf(status)).toEqual(steps);
});

test("a filter without a set is off, and one whose approval nobody asked for is on", () => {
  expect(statusOf({ autoAssignDistributionSet: null })).toBe("off");
  expect(statusOf({ autoAssignDistributionSet: 7 })).toBe("running");
  expect(statusOf({ autoAssignDistributionSet: 7, autoAssignStatus: "paused" })).toBe("paused");
});

test("a text is looked for in names, also one with quotes", () => {
  expect(byName("  ")).toBeUndefined();
  expect(byName('a "b"')).toBe('name=="*a \\"b\\"*"');
});

test("a weight is a whole number from 0 to 1000", () => {
  expect(["0", "1000", "1001", "1.5", "", "x"].map(weightOf)).toEqual([0, 1000, undefined, undefined, undefined, undefined]);
});
