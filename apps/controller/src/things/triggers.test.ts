import { actionStatus } from "@harrier/contracts";
import { expect, it } from "vitest";
import type { OutgoingRow } from "./outgoing.sql.ts";
import { triggersOf } from "./triggers.ts";

const { CANCELED, CANCELING, DOWNLOADED, ERROR, FINISHED, RETRIEVED, RUNNING, SCHEDULED, WAIT_FOR_CONFIRMATION } = actionStatus;
const row = (part: Partial<OutgoingRow>): OutgoingRow => ({
  place: 0,
  id: "1",
  tenantId: 1,
  type: "io.update.action.status_changed.v1",
  topic: "action-events",
  common: {},
  items: [],
  upTo: "1:1:",
  scanned: 1,
  lastRow: "1",
  ...part,
});
const told = (previous: number | null, status: number, active: boolean) =>
  triggersOf(row({ items: [[11, "x", 2, previous, status, active]] })).flatMap((all) => all.map(({ what }) => what));

it.each([
  [null, RUNNING, true, ["action"]],
  [null, WAIT_FOR_CONFIRMATION, true, ["action"]],
  [null, SCHEDULED, false, []],
  [null, FINISHED, false, []],
  [SCHEDULED, RUNNING, true, ["action"]],
  [WAIT_FOR_CONFIRMATION, RUNNING, true, ["action"]],
  [RUNNING, CANCELING, true, ["action"]],
  [CANCELING, RUNNING, true, []],
  [RUNNING, RETRIEVED, true, ["window"]],
  [RUNNING, RUNNING, true, ["window"]],
  [RUNNING, FINISHED, false, ["attributes", "action"]],
  [RUNNING, DOWNLOADED, false, ["attributes", "action"]],
  [RUNNING, ERROR, false, ["action"]],
  [CANCELING, CANCELED, false, ["action"]],
] as const)("from %s to %s, active %s: a thing is told %j", (previous, status, active, what) => {
  expect(told(previous, status, active)).toEqual(what);
});

it("a thing that has been confirmed is told by itself", () => {
  const [[trigger] = []] = triggersOf(row({ items: [[11, "x", 2, WAIT_FOR_CONFIRMATION, RUNNING, true]] }));
  expect(trigger).toEqual({ tenantId: 1, controllerId: "x", what: "action", confirmed: true });
});

it("a deletion has the address that is gone, and other rows name what they are about", () => {
  const deleted = row({ topic: "target-events", type: "feed.things-deleted", common: { things: [["x", "amqp://v/e"]] } });
  expect(triggersOf(deleted)).toEqual([[{ tenantId: 1, controllerId: "x", what: "deleted", address: "amqp://v/e" }]]);
  const several = row({ topic: "target-events", type: "feed.things", common: { things: ["x", "y"], what: "attributes" } });
  expect(triggersOf(several)).toEqual(["x", "y"].map((controllerId) => [{ tenantId: 1, controllerId, what: "attributes" }]));
  const asked = row({ topic: "target-events", type: "feed.thing", common: { controllerId: "y", what: "attributes" } });
  expect(triggersOf(asked)).toEqual([[{ tenantId: 1, controllerId: "y", what: "attributes" }]]);
});
