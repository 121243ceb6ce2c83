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
  lastStatusCode: 0,
  createdBy: "admin",
  createdAt: 1,
  lastModifiedBy: "admin",
  lastModifiedAt: 2,
};
const spec = { base: "http://x/api/mgmt/v1", surface: "spec" as const };
const rest = { base: "http://x/rest/v1", surface: "rest" as const };

test.each<[keyof typeof actionStatus, boolean, string, string]>([
  ["RUNNING", true, "update", "pending"],
  ["SCHEDULED", false, "update", "finished"],
  ["CANCELING", true, "cancel", "pending"],
  ["CANCELED", false, "cancel", "finished"],
  ["WAIT_FOR_CONFIRMATION", true, "update", "pending"],
])("%s in both dialects", (name, active, type, status) => {
  const changed = { ...row, status: actionStatus[name], active };
  const word = name.toLowerCase();
  const specified = actionJson(spec, changed, true);
  expect(actionView.parse(specified)).toEqual(specified);
  expect(specified).toMatchObject({ type, status, detailStatus: word, active });
  const current = actionJson(rest, changed, true);
  expect(actionViewRest.parse(current)).toEqual(current);
  expect(current).toMatchObject({ type, status: word, active });
  expect("canceledaction" in (current._links ?? {})).toBe(type === "cancel");
});

test("a time only for timeforced; a code of 0 is a code; a set or target that is gone has no name", () => {
  expect(actionJson(spec, row, true)).toMatchObject({ forceType: "timeforced", forceTime: 5, lastStatusCode: 0, weight: 7 });
  expect(actionJson(spec, { ...row, forceType: forceType.soft }, false)).not.toHaveProperty("forceTime");
  expect(actionJson(spec, row, true)._links.distributionset).toEqual({ href: "http://x/api/mgmt/v1/distributionsets/12" });
  expect(actionJson(spec, row, true)._links.target).toEqual({ href: "http://x/api/mgmt/v1/targets/dev" });
});
