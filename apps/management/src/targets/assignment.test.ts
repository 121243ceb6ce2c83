import type { TargetAssignment } from "@harrier/contracts";
import { expect, test } from "vitest";
import { checkItems, newCommandId, toAssignment } from "./assignment.ts";

const now = Date.UTC(2026, 10, 21);
const nightly = { schedule: "0 0 2 ? * *", duration: "01:00", timezone: "+02:00" };
const item = (id: string, members: Partial<TargetAssignment> = {}): TargetAssignment => ({ id, type: "forced", forcetime: 0, ...members });
const never = async () => false;
const check = (...items: TargetAssignment[]) => checkItems(items, { now, max: 5_000, several: never });
const requested = async (given: TargetAssignment, controllerId = given.id) =>
  (await check(given)).map((checked) => toAssignment(checked, controllerId))[0];

test("identical items count once, with defaults written out or not", async () => {
  const windowed = item("c", { maintenanceWindow: nightly });
  expect(await check(item("a"), item("b"), item("a", { weight: 1000 }), item("a", { forcetime: 5 }))).toHaveLength(2);
  expect(await check(windowed, { ...windowed, confirmationRequired: true })).toHaveLength(1);
});

test.each<[string, TargetAssignment[], string]>([
  ["another type", [item("a"), item("a", { type: "soft" })], "multiAssignmentNotEnabled"],
  ["another weight", [item("a"), item("a", { weight: 1 })], "multiAssignmentNotEnabled"],
  ["another window", [item("a"), item("a", { maintenanceWindow: nightly })], "multiAssignmentNotEnabled"],
  ["another confirmation", [item("a"), item("a", { confirmationRequired: false })], "multiAssignmentNotEnabled"],
  [
    "another time",
    [item("a", { type: "timeforced", forcetime: 1 }), item("a", { type: "timeforced", forcetime: 2 })],
    "multiAssignmentNotEnabled",
  ],
  ["too many", Array.from({ length: 5001 }, (_, i) => item(`t${i}`)), "quotaTooManyEntries"],
])("a second item with %s is refused", async (_, items, code) => {
  await expect(check(...items)).rejects.toMatchObject({ code });
});

test("where a target may have several, only identical items count once, and the tenant's setting is only read where it matters", async () => {
  let requested = 0;
  const several = async () => {
    requested += 1;
    return true;
  };
  const checked = (...items: TargetAssignment[]) => checkItems(items, { now, max: 3, several });
  expect(await checked(item("a"), item("b"), item("b"))).toHaveLength(2);
  expect(requested).toBe(0);
  expect(await checked(item("a"), item("a", { weight: 5 }), item("a", { weight: 1000 }))).toMatchObject([
    { id: "a" },
    { id: "a", weight: 5 },
  ]);
  expect(requested).toBe(1);
  const four = [1, 2, 3, 4].map((weight) => item("a", { weight }));
  await expect(checked(...four)).rejects.toMatchObject({ code: "quotaTooManyEntries" });
});

// contract management.md §5.6
test.each([
  ["a part that is missing", { ...nightly, schedule: undefined }],
  ["no schedule", { ...nightly, schedule: "nonsense" }],
  ["a region", { ...nightly, timezone: "Europe/Berlin" }],
  ["a whole day", { ...nightly, duration: "24:00" }],
  ["no further window", { ...nightly, schedule: "0 0 2 ? * * 2025" }],
])("a window with %s is refused, before anything else", async (_, maintenanceWindow) => {
  const items = [item("a", { maintenanceWindow }), item("a", { type: "soft" })];
  await expect(check(...items)).rejects.toMatchObject({ code: "maintenanceScheduleInvalid" });
});

test("a window that is open for the last time is accepted", async () => {
  const last = { schedule: "0 0 23 20 11 ? 2026", duration: "02:00", timezone: "Z" };
  expect(await requested(item("a", { maintenanceWindow: last }))).toMatchObject({ maintenanceWindow: last });
});

test("an empty window counts as none", async () => {
  const maintenanceWindow = { schedule: undefined, duration: undefined, timezone: undefined };
  expect(await requested(item("a", { maintenanceWindow }))).not.toHaveProperty("maintenanceWindow");
});

test("controller gets a time for timeforced only, and one that a timestamp can hold", async () => {
  expect(await requested(item("a", { forcetime: 99 }))).toEqual({ controllerId: "a", forceType: "forced", forceTime: 0, weight: 1000 });
  const endless = item("a", { type: "timeforced", forcetime: 2 ** 63, weight: 0 });
  expect(await requested(endless, "dev")).toEqual({
    controllerId: "dev",
    forceType: "timeforced",
    forceTime: 8_640_000_000_000_000,
    weight: 0,
  });
});

test("controller gets the window, and whether confirmation is required where the request says so", async () => {
  const given = item("a", { maintenanceWindow: nightly, confirmationRequired: false });
  expect(await requested(given)).toMatchObject({ maintenanceWindow: nightly, confirmationRequired: false });
  expect(await requested(item("a"))).not.toHaveProperty("confirmationRequired");
});

test("every command has an id of its own", () => {
  expect(newCommandId("assign")).toMatch(/^assign:[\w-]{36}$/);
  expect(newCommandId("assign")).not.toBe(newCommandId("assign"));
});
