import fc from "fast-check";
import { expect, test } from "vitest";
import { EngineModel, type Outcome } from "../testing/engine-model.ts";
import { group } from "../testing/facts.ts";

const engines = 2;

/** Changes of a status that there are (contract rollouts.md §4.1, §4.2), by what they come from. */
const rolloutChanges: Readonly<Record<string, string>> = {
  creating: "ready waiting_for_approval stopping deleting",
  waiting_for_approval: "ready approval_denied stopping deleting",
  approval_denied: "stopping deleting",
  ready: "starting stopping deleting",
  starting: "running stopping deleting",
  running: "paused finished stopping deleting",
  paused: "running stopping deleting",
  stopping: "stopped deleting",
  stopped: "deleting",
  finished: "deleting",
  deleting: "deleted",
};
const groupChanges: Readonly<Record<string, string>> = {
  creating: "ready finished",
  ready: "scheduled finished",
  scheduled: "running finished",
  running: "finished error",
};

const percent = fc.integer({ min: 0, max: 100 }).map(String);
const groups = fc.array(
  fc.record({
    size: fc.integer({ min: 0, max: 5 }),
    successExpression: percent,
    errorExpression: percent,
    successAction: fc.constantFrom("NEXTGROUP" as const, "PAUSE" as const),
  }),
  { minLength: 1, maxLength: 4 },
);

const engine = fc.nat(engines - 1);
const member = fc.nat(19);
const outcome = fc.constantFrom<Outcome>("finished", "error", "cancelled");
type Event = (model: EngineModel) => void;
/** Engines step most of the time, else nothing comes far; what ends a rollout is rare. */
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 30, arbitrary: engine.map((which) => (model: EngineModel) => model.engineStep(which)) },
  { weight: 2, arbitrary: engine.map((which) => (model: EngineModel) => model.kill(which)) },
  {
    weight: 10,
    arbitrary: fc
      .constantFrom("start", "pause", "resume", "resume", "trigger", "trigger", "approve", "start")
      .map((name) => (model: EngineModel) => model.command(name as "start")),
  },
  { weight: 1, arbitrary: fc.constantFrom("stop", "delete", "deny").map((name) => (model: EngineModel) => model.command(name as "stop")) },
  {
    weight: 10,
    arbitrary: fc.tuple(member, outcome).map(
      ([which, how]) =>
        (model: EngineModel) =>
          model.report(which, how),
    ),
  },
  { weight: 1, arbitrary: member.map((which) => (model: EngineModel) => model.deleteTarget(which)) },
);

const course = fc.array(event, { minLength: 20, maxLength: 150 });
/** What people do about it in the end. */
const ending = fc.subarray(["stop", "delete"] as const);

/** What holds after every step (see the invariants in the README of the engine). */
function holds(model: EngineModel): void {
  const { rollout, groups: rows, members } = model;
  // only changes that there are
  for (const { groupId, from, to } of model.changes.splice(0)) {
    const allowed = (groupId === undefined ? rolloutChanges : groupChanges)[from]?.split(" ") ?? [];
    expect(allowed, `${groupId ?? "rollout"}: ${from} to ${to}`).toContain(to);
  }
  for (const row of rows) {
    const actions = members.filter(({ groupId }) => groupId === row.id).map(({ action }) => action);
    // nothing runs on a device before it is the turn of its group
    const begun = actions.some((action) => action !== undefined && action !== "scheduled");
    if (begun) expect(["running", "finished", "error"], `group ${row.id}`).toContain(row.status);
    // a group that counts as complete has nothing open, but for what a stop leaves to the devices
    if (row.status === "finished" && rollout.status !== "stopped" && rollout.status !== "deleting")
      expect(actions.filter((action) => action === "running" || action === "scheduled")).toEqual([]);
  }
  // groups have their turn one after the other, none is passed over
  if (!["stopped", "deleting", "deleted"].includes(rollout.status)) {
    const turns = rows.map(({ status, startRequested }) => startRequested || ["running", "finished", "error"].includes(status));
    expect(turns).toEqual(turns.toSorted((a, b) => Number(b) - Number(a)));
  }
  // a group that failed while it was being started begins no further action, also when the rollout finishes
  const failed = new Set(rollout.status === "finished" ? rows.filter(({ status }) => status === "error").map(({ id }) => id) : []);
  // what has ended has nothing left to begin, what is deleted nothing open
  if (["finished", "stopped", "deleted"].includes(rollout.status) || model.gone)
    expect(members.filter(({ action, groupId }) => action === "scheduled" && !failed.has(groupId))).toEqual([]);
  if (rollout.status === "deleted") expect(members.filter(({ action }) => action === "running")).toEqual([]);
  if (model.gone) expect(members.filter(({ action }) => action !== undefined)).toEqual([]);
}

/** People let it go on, devices answer, engines live: then it ends. */
function settle(model: EngineModel): void {
  for (let round = 0; round < 2_000 && !(model.isIdle() && ends(model)); round++) {
    for (const which of [0, 1]) model.engineStep(which);
    holds(model);
    if (!model.isIdle()) continue;
    for (const name of ["approve", "start", "resume"] as const) model.command(name);
    const open = model.members.findIndex(({ action }) => action === "running");
    model.report(open, round % 3 === 0 ? "error" : "finished");
  }
}

const ends = ({ gone, rollout }: EngineModel): boolean =>
  gone || ["finished", "stopped", "deleted", "approval_denied"].includes(rollout.status);

test("whatever comes between: two engines that see old states and die anywhere, people, devices, deleted targets", () => {
  fc.assert(
    fc.property(groups, fc.boolean(), fc.nat(40), course, ending, (shapes, approval, steps, events, last) => {
      const model = new EngineModel(
        shapes.map(({ size, ...shape }, index) => ({ ...group(index + 1, "creating", shape), size })),
        { approval, engines },
      );
      // some courses begin where the rollout runs already
      for (let step = 0; step < steps; step++) {
        for (const name of ["approve", "start"] as const) model.command(name);
        model.engineStep(0);
      }
      for (const happen of events) {
        happen(model);
        holds(model);
      }
      settle(model);
      for (const name of last) {
        model.command(name);
        settle(model);
      }
      // it comes to an end
      expect(ends(model), `ended ${model.rollout.status}`).toBe(true);
      // where nobody stopped it, each target that is still there has had exactly its one action
      if (model.rollout.status === "finished") {
        expect(model.members.every(({ action, deleted }) => (action === undefined) === (deleted === true))).toBe(true);
        expect(model.groups.every(({ status }) => status === "finished" || status === "error")).toBe(true);
      }
    }),
    // the same courses every time: nobody is refused because of what somebody else has written
    { numRuns: 200, seed: 7 },
  );
}, 60_000);
