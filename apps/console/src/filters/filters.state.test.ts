import { expect, test } from "vitest";
import { bodyOf, byName, draftOf, statusOf, stepsOf, weightOf } from "./filters.state.ts";

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

test("another set leaves what the form does not show: the policy, that there is none, and the window", () => {
  const safety = { policy: "careful", skip: "assigned", limits: { installingSeconds: 60, count: "error" } } as const;
  const window = { schedule: "0 0 2 * * ?", duration: "01:00:00", timezone: "+00:00" };
  const off = { autoAssignDistributionSet: null, autoAssignActionType: null, autoAssignWeight: null, confirmationRequired: null };
  const on = { ...off, autoAssignDistributionSet: 3, autoAssignActionType: "soft", autoAssignWeight: 7 } as const;
  const full = { ...on, autoAssignSafety: safety, autoAssignMaintenanceWindow: window, confirmationRequired: true };
  const sent = (of: Parameters<typeof draftOf>[0], edits: object) => bodyOf(of, { ...draftOf(of), ...edits }, edits);
  const same = { type: "soft", weight: 7 };
  expect(sent(full, { set: "4" })).toEqual({ ...same, id: 4, safety, maintenanceWindow: window, confirmationRequired: true });
  expect(sent(on, { set: "4" })).toEqual({ ...same, id: 4, safety: { policy: "none" } });
  expect(sent(off, { set: "4" })).toEqual({ id: 4, type: "forced", weight: 1000 });
  expect(sent(off, { set: "4", asks: true })).toEqual({ id: 4, type: "forced", weight: 1000, confirmationRequired: true });
});
