import { actionStatus, actionView, actionViewRest, forceType } from "@harrier/contracts";
import { expect, test } from "vitest";
import { actionJson } from "./action.json.ts";
import type { ActionRow } from "./actions.sql.ts";

const row: ActionRow = {
  id: 11,
  controllerId: "dev",
  targetName: null,
  setId: 12,
  setName: null,
  setVersion: null,
  status: actionStatus.RUNNING,
  active: true,
  forceType: forceType.timeforced,
  forceTime: 5,
  weight: 7,
  rolloutId: null,
  rolloutName: null,
  groupId: null,
  groupName: null,
  lastMessage: null,
  lastStatusCode: 0,
  maintenanceSchedule: null,
  maintenanceDuration: null,
  maintenanceTimezone: null,
  safety: null,
  createdBy: "admin",
  createdAt: 1,
  lastModifiedBy: "admin",
  lastModifiedAt: 2,
};
const spec = { base: "http://x/api/mgmt/v1", surface: "spec" as const };
const rest = { base: "http://x/rest/v1", surface: "rest" as const };

const full = { now: 0, full: true };
const compact = { now: 0, full: false };

test.each<[keyof typeof actionStatus, boolean, string, string]>([
  ["RUNNING", true, "update", "pending"],
  ["SCHEDULED", false, "update", "finished"],
  ["CANCELING", true, "cancel", "pending"],
  ["CANCELED", false, "cancel", "finished"],
  ["WAIT_FOR_CONFIRMATION", true, "update", "pending"],
])("the status %s is shown in both dialects", (name, active, type, status) => {
  const changed = { ...row, status: actionStatus[name], active };
  const word = name.toLowerCase();
  const specified = actionJson(spec, changed, full);
  expect(actionView.parse(specified)).toEqual(specified);
  expect(specified).toMatchObject({ type, status, detailStatus: word, active });
  const current = actionJson(rest, changed, full);
  expect(actionViewRest.parse(current)).toEqual(current);
  expect(current).toMatchObject({ type, status: word, active });
  expect("canceledaction" in (current._links ?? {})).toBe(type === "cancel");
});

test("only a timeforced action shows a time, the code 0 is shown as a code, and a deleted set or target has no name", () => {
  expect(actionJson(spec, row, full)).toMatchObject({ forceType: "timeforced", forceTime: 5, lastStatusCode: 0, weight: 7 });
  expect(actionJson(spec, { ...row, forceType: forceType.soft }, compact)).not.toHaveProperty("forceTime");
  expect(actionJson(spec, row, full)._links.distributionset).toEqual({ href: "http://x/api/mgmt/v1/distributionsets/12" });
  expect(actionJson(spec, row, full)._links.target).toEqual({ href: "http://x/api/mgmt/v1/targets/dev" });
});

// contract rollouts.md §6.1: this is the start of the running or the next window, or 0 when none comes any more.
test.each([
  ["before it", "2031-01-01T00:00:00Z", "2031-01-01T10:00:00Z"],
  ["in it", "2031-01-01T10:00:30Z", "2031-01-01T10:00:00Z"],
  ["after the last one", "2031-12-31T10:01:00Z", undefined],
])("the start of a maintenance window is shown %s", (_, now, start) => {
  const window = { schedule: "0 0 12 ? * * 2031", duration: "00:01", timezone: "+02:00" };
  const { schedule: maintenanceSchedule, duration: maintenanceDuration, timezone: maintenanceTimezone } = window;
  const windowed = { ...row, maintenanceSchedule, maintenanceDuration, maintenanceTimezone };
  const nextStartAt = start === undefined ? 0 : Date.parse(start);
  for (const shown of [full, compact]) {
    const json = actionJson(spec, windowed, { ...shown, now: Date.parse(now) });
    expect(actionView.parse(json)).toEqual(json);
    expect(json.maintenanceWindow).toEqual({ ...window, nextStartAt });
  }
});
