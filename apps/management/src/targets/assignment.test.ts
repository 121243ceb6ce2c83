import type { TargetAssignment } from "@harrier/contracts";
import { expect, test } from "vitest";
import { collapseItems, newCommandId, toAssignment } from "./assignment.ts";

const item = (id: string, members: Partial<TargetAssignment> = {}): TargetAssignment => ({ id, type: "forced", forcetime: 0, ...members });

test("identical items collapse, defaults written out or not", () => {
  expect(collapseItems([item("a"), item("b"), item("a", { weight: 1000 }), item("a", { forcetime: 5 })])).toHaveLength(2);
});

test.each<[string, TargetAssignment[], string]>([
  ["another type", [item("a"), item("a", { type: "soft" })], "multiAssignmentNotEnabled"],
  ["another weight", [item("a"), item("a", { weight: 1 })], "multiAssignmentNotEnabled"],
  [
    "another time",
    [item("a", { type: "timeforced", forcetime: 1 }), item("a", { type: "timeforced", forcetime: 2 })],
    "multiAssignmentNotEnabled",
  ],
  ["too many", Array.from({ length: 5001 }, (_, i) => item(`t${i}`)), "quotaTooManyEntries"],
  [
    "a window",
    [item("a", { maintenanceWindow: { schedule: undefined, duration: "00:01:00", timezone: undefined } })],
    "maintenanceScheduleInvalid",
  ],
])("%s is refused", (_, items, code) => {
  expect(() => collapseItems(items)).toThrow(expect.objectContaining({ code }));
});

test("an empty window is none", () => {
  const maintenanceWindow = { schedule: undefined, duration: undefined, timezone: undefined };
  expect(collapseItems([item("a", { maintenanceWindow })])).toHaveLength(1);
});

test("what controller gets: a time for timeforced only, one that a timestamp can hold", () => {
  expect(toAssignment(item("a", { forcetime: 99 }), "a")).toEqual({ controllerId: "a", forceType: "forced", forceTime: 0, weight: 1000 });
  const never = item("a", { type: "timeforced", forcetime: 2 ** 63, weight: 0 });
  expect(toAssignment(never, "dev")).toEqual({ controllerId: "dev", forceType: "timeforced", forceTime: 8_640_000_000_000_000, weight: 0 });
});

test("every command has an id of its own", () => {
  expect(newCommandId("assign")).toMatch(/^assign:[\w-]{36}$/);
  expect(newCommandId("assign")).not.toBe(newCommandId("assign"));
});
