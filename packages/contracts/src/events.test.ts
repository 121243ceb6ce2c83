import { describe, expect, it } from "vitest";
import { actionEvent, eventsOfTopic, rolloutEvent, topics } from "./events.ts";

const envelope = {
  specversion: "1.0",
  id: "controller-7-0",
  source: "/tenants/DEFAULT/updates",
  subject: "targets/d-1/actions/11",
  time: "2026-11-21T12:00:00.000Z",
  tenant: "DEFAULT",
  sequence: "2",
  datacontenttype: "application/json",
};

const action = {
  tenant: "DEFAULT",
  actionId: 11,
  controllerId: "d-1",
  distributionSet: { id: 12, name: "os", version: "2" },
  rolloutId: null,
  previousStatus: "running",
  status: "finished",
  entryStatus: "finished",
  active: false,
  type: "update",
  forceType: "forced",
  weight: 1000,
  messages: ["done"],
  initiatedBy: "admin",
  occurredAt: 1_763_726_400_000,
  recordedAt: 1_763_726_400_500,
};

describe("event schemas", () => {
  it("has one schema per topic", () => {
    expect(Object.keys(eventsOfTopic).toSorted()).toEqual(Object.values(topics).toSorted());
  });

  it("reads an action event, and one with members of a later version", () => {
    const event = { ...envelope, type: "io.update.action.status_changed.v1", data: action };
    expect(actionEvent.parse(event).data.status).toBe("finished");
    expect(actionEvent.safeParse({ ...event, later: 1, data: { ...action, later: 1 } }).success).toBe(true);
  });

  it("reads words that it does not know, of the topic's own subjects", () => {
    const event = { ...envelope, type: "io.update.action.proof_changed.v1", data: { ...action, status: "observing" } };
    expect(actionEvent.safeParse(event).success).toBe(true);
  });

  it.each([
    ["a status in upper case", { data: { ...action, status: "FINISHED" } }],
    ["a sequence that is a number", { sequence: 2 }],
    ["a type of another topic", { type: "io.update.rollout.created.v1" }],
  ])("refuses %s", (_case, change) => {
    const event = { ...envelope, type: "io.update.action.created.v1", data: action, ...change };
    expect(actionEvent.safeParse(event).success).toBe(false);
  });

  it("reads events of a rollout and of a group", () => {
    const data = {
      tenant: "DEFAULT",
      rolloutId: 11,
      name: "r",
      previousStatus: "ready",
      status: "starting",
      reason: "user",
      recordedAt: 1,
    };
    const event = { ...envelope, subject: "rollouts/11", type: "io.update.rollout.status_changed.v1", data };
    expect(rolloutEvent.safeParse(event).success).toBe(true);
    const group = { ...event, subject: "rollouts/11/groups/12", type: "io.update.rollout_group.status_changed.v1" };
    expect(rolloutEvent.safeParse({ ...group, data: { ...data, groupId: 12, status: "error" } }).success).toBe(true);
  });
});
