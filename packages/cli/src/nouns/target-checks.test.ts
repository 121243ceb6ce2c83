import { expect, test } from "vitest";
import { checksOf, type Seen } from "./target-checks.ts";

const now = Date.parse("2026-11-25T12:00:00Z");
const set = { id: 1, name: "fw", version: "2.4" };
const target = {
  controllerId: "a",
  name: "a",
  updateStatus: "pending",
  requestAttributes: false,
  lastControllerRequestAt: now,
  assignedSet: set,
};
const action = { id: 7, type: "update", detailStatus: "running", active: true, distributionSet: set };
const seen = (more: object): Seen => ({ target: target as never, now, ...more });
const noteworthy = (of: Seen) => checksOf(of).find(({ state }) => state !== "ok");

test.each([
  ["has never asked", { target: { ...target, lastControllerRequestAt: undefined } }, "polls", "no"],
  ["is overdue", { target: { ...target, pollStatus: { lastRequestAt: 0, nextExpectedRequestAt: now, overdue: true } } }, "polls", "no"],
  ["has no set", { target: { ...target, assignedSet: undefined } }, "assigned", "no"],
  [
    "waits for its group",
    { action: { ...action, rollout: 3, detailStatus: "scheduled" }, rollout: { status: "running" } },
    "rollout",
    "wait",
  ],
  [
    "waits for a paused rollout",
    { action: { ...action, rollout: 3, detailStatus: "scheduled" }, rollout: { status: "paused" } },
    "rollout",
    "no",
  ],
  ["belongs to a rollout that is not shown", { action: { ...action, rollout: 3 } }, "rollout", "unknown"],
  ["waits for a confirmation", { action: { ...action, detailStatus: "wait_for_confirmation" } }, "confirmation", "no"],
  ["waits for its window", { action: { ...action, maintenanceWindow: { nextStartAt: now + 1 } } }, "window", "wait"],
  ["has no window any more", { action: { ...action, maintenanceWindow: { nextStartAt: 0 } } }, "window", "no"],
  ["is asked to give up", { action: { ...action, type: "cancel", detailStatus: "canceling" } }, "cancellation", "no"],
  ["has another set installed and no action", {}, "installed", "no"],
])("contract console.md §5 a device that %s", (_what, more, check, state) => {
  expect(noteworthy(seen(more))).toMatchObject({ check, state });
});

test("contract console.md §5 nothing holds up what is installed, or runs in an open window of a running rollout", () => {
  expect(noteworthy(seen({ target: { ...target, installedSet: set } }))).toBeUndefined();
  const open = { ...action, rollout: 3, maintenanceWindow: { nextStartAt: now - 1 } };
  expect(noteworthy(seen({ action: open, rollout: { status: "running" } }))).toBeUndefined();
});
