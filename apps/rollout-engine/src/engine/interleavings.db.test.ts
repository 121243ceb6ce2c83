import { createDatabase, type Database } from "@harrier/db";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { newRollout, type RandomEvent, randomEvents, type Snapshot, snapshot } from "../testing/interleaving.ts";

// any interleaving of commands, reports, watches, rounds and crashes keeps the invariants of the README

let fixture: EngineFixture;
let whole: Database;

beforeAll(async () => {
  fixture = await createEngineFixture();
  whole = createDatabase({ url: fixture.database.adminUrl, applicationName: "interleavings" });
});
afterAll(async () => {
  await whole?.close();
  await fixture?.drop();
});

/** The changes of contract rollouts.md §4.1 and §4.2, in the form of events. */
const edges = new Set(
  [
    "creating ready",
    "ready starting",
    "starting running",
    "running paused",
    "paused running",
    "running finished",
    "stopping stopped",
    "deleting deleted",
    ...["creating", "ready", "starting", "running", "paused"].flatMap((from) => [`${from} stopping`, `${from} deleting`]),
    ...["stopping", "stopped", "finished"].map((from) => `${from} deleting`),
  ]
    .map((edge) => `rollout ${edge}`)
    .concat(
      ["creating ready", "ready scheduled", "scheduled running", "running finished", "running error"].map((edge) => `group ${edge}`),
      ["creating", "ready", "scheduled"].map((from) => `group ${from} finished`),
    ),
);

const begun = (groups: Snapshot["groups"]) => groups.filter(({ status }) => status === "running" || status === "error").map(({ id }) => id);
const ending = new Set(["stopping", "stopped", "deleting", "deleted"]);
const open = ({ groups }: Snapshot) => groups.reduce((sum, { actions: [scheduled = 0, running = 0] }) => sum + scheduled + running, 0);

/** Answers what is wrong with one snapshot. */
function faultsAt(now: Snapshot): string[] {
  const found = now.doubles > 0 ? [`${now.doubles} targets have two actions`] : [];
  for (const { id, status, counts, actions } of now.groups) {
    if (counts.join() !== actions.join()) found.push(`group ${id}: counts ${counts}, actions ${actions}`);
    const due = !ending.has(now.status ?? "") && ["scheduled", "running"].includes(status);
    if (due && (now.withoutOne[id] ?? 0) > 0) found.push(`group ${id}, ${status}: ${now.withoutOne[id]} members without an action`);
  }
  return found;
}

/** Answers what is wrong with one step. */
function faultsBetween(before: Snapshot, event: RandomEvent, after: Snapshot): string[] {
  const found: string[] = [];
  const tick = event.do === "tick" || event.do === "crash";
  const others = begun(after.groups).filter((id) => !begun(before.groups).includes(id));
  if (tick && before.status === "paused" && others.length > 0) found.push(`groups ${others} began while the rollout was paused`);
  if (tick && ending.has(before.status ?? "") && open(after) > open(before))
    found.push(`${event.do} created or began actions in ${before.status}`);
  return found;
}

async function eventFaults(id: number): Promise<string[]> {
  const told = await fixture.events(id);
  const found = told.flatMap(({ sequence }, index) => (sequence === index + 1 ? [] : [`event ${index + 1} is numbered ${sequence}`]));
  for (const { what, data } of told) {
    const from = data["previousStatus"];
    if (typeof from !== "string") continue;
    const edge = `${what.split(" ")[0]} ${from} ${data["status"]}`;
    if (!edges.has(edge)) found.push(`no such edge: ${edge}`);
  }
  return found;
}

/** Completes the rollout: no further command interferes, and all devices answer. */
async function comeToEnd({ id, happen }: Awaited<ReturnType<typeof newRollout>>): Promise<string | null> {
  for (let round = 0; round < 60; round += 1) {
    const now = await snapshot(whole.pool, id);
    if (now.status === null || ["stopped", "finished", "deleted"].includes(now.status)) return now.status;
    if (now.status === "ready") await happen({ do: "start", seed: 0 });
    if (now.status === "paused") await happen({ do: "resume", seed: 0 });
    await happen({ do: "tick", seed: 0 });
    for (const group of now.groups) {
      await fixture.controller.reportAtMost(id, group.id, 12, "finished");
      for (const what of ["proven", "fails for good"] as const) await fixture.controller.watch(id, group.id, 12, what);
    }
  }
  return "not at its end";
}

const event = fc.record({
  do: fc.oneof(
    ...Object.entries(randomEvents).map(([what, often]) => ({
      weight: Math.round(often * 10),
      arbitrary: fc.constant(what as RandomEvent["do"]),
    })),
  ),
  seed: fc.nat(1_000),
});
const conditions = fc.record({
  successCondition: fc.record({ condition: fc.constant("THRESHOLD"), expression: fc.integer({ min: 0, max: 100 }).map(String) }),
  errorCondition: fc.record({ condition: fc.constant("THRESHOLD"), expression: fc.integer({ min: 0, max: 100 }).map(String) }),
  safety: fc.option(
    fc.record({
      limits: fc.record({ notFetchedSeconds: fc.constant(600), count: fc.constantFrom("error", "none") }),
      retry: fc.record({ max: fc.constant(1), waitingCounts: fc.constantFrom("running", "error") }),
    }),
    { nil: undefined },
  ),
  successAction: fc.record({ action: fc.constantFrom("NEXTGROUP", "PAUSE"), expression: fc.constant("") }),
});
let runs = 0;

test("beyond 2.17 any interleaving of commands, reports, watches, rounds and crashes keeps the invariants", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(conditions, fc.array(event, { minLength: 10, maxLength: 40 }), async (body, events) => {
      const rollout = await newRollout(fixture, `p${runs++}`, body);
      let before = await snapshot(whole.pool, rollout.id);
      // most runs begin with a started rollout, so that commands meet work under way
      const opening: RandomEvent[] =
        events[0]?.do === "tick" ? [] : ["tick", "start", "tick"].map((what) => ({ do: what as "tick", seed: 0 }));
      for (const one of [...opening, ...events]) {
        await rollout.happen(one);
        const after = await snapshot(whole.pool, rollout.id);
        expect([...faultsAt(after), ...faultsBetween(before, one, after)], `after ${one.do} ${one.seed}`).toEqual([]);
        before = after;
      }
      expect(await comeToEnd(rollout)).toBeOneOf([null, "stopped", "finished", "deleted"]);
      expect(faultsAt(await snapshot(whole.pool, rollout.id))).toEqual([]);
      expect(await eventFaults(rollout.id)).toEqual([]);
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
