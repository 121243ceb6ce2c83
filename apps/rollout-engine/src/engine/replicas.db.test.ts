import { createDatabase } from "@harrier/db";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startRollout } from "../rollouts/rollout-commands.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { driveRollout } from "./drive.ts";

let fixture: EngineFixture;

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

test("two engines share the work, and nothing is done twice", async () => {
  const first = fixture.engine();
  const second = fixture.engine();
  const ids = await Promise.all(Array.from({ length: 6 }, () => fixture.createRollout({ amountGroups: 3 })));
  for (const id of ids) await fixture.isStatus(id, "ready");
  await Promise.all(ids.map((id) => startRollout(fixture.drive, fixture.call, id)));
  for (const id of ids) await fixture.isStatus(id, "running");
  for (const id of ids) {
    expect((await fixture.actions(id)).reduce((sum, row) => sum + row.n, 0)).toBe(12);
    const told = await fixture.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
    // the events are 1 + 3 created, 3 + 1 ready, starting, running, 3 scheduled, 1 running
    expect(told).toHaveLength(14);
  }
  await Promise.all([first.stop(), second.stop()]);
});

test("two engines that work on one rollout without a lease end in the same state as one", async () => {
  const { db } = fixture.create;
  const deps = { db, actions: fixture.controller.actions, fault: () => {}, now: Date.now };
  const id = await fixture.createRollout({ amountGroups: 3, startAt: 1 });
  const signal = new AbortController().signal;
  const racer = async () => {
    for (let attempt = 0; attempt < 60; attempt++) {
      // the engine that comes second to the freeze is told to try again
      const ended = await driveRollout(deps, { tenantId: 1, rolloutId: id }, signal).catch(() => undefined);
      if (ended !== undefined && ended.dueAt !== 0) return; // with 0 its round is over, but its work is not
    }
  };
  await Promise.all([racer(), racer(), racer()]);
  expect(await fixture.groupStatuses(id)).toEqual(["running", "scheduled", "scheduled"]);
  expect((await fixture.groups(id)).map((group) => group.started)).toEqual([true, false, false]);
  const told = await fixture.events(id);
  expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  expect(told).toHaveLength(14);
  expect(await fixture.actions(id)).toEqual([
    { status: 3, n: 4 },
    { status: 8, n: 8 },
  ]);
});

test("the work of an engine that dies is continued by another within seconds", async () => {
  const id = await fixture.createRollout({ amountGroups: 1 });
  // the engine gets its own connections; cutting them prevents any record, renewal or release, as if the process were killed
  const cut = createDatabase({ url: fixture.database.urlOf("rollout-engine"), applicationName: "dying" });
  const dying = fixture.engine({}, { db: cut });
  await fixture.isStatus(id, "ready");
  let chunks = 0;
  fixture.controller.beforeCall = async (command) => {
    if (!command.startsWith("schedule")) return;
    chunks += 1;
    if (chunks === 3) await new Promise(() => {});
  };
  await startRollout(fixture.drive, fixture.call, id);
  await eventually(() => expect(chunks).toBe(3));
  fixture.abandon(dying);
  await cut.close();
  const stopped = dying.stop();
  fixture.controller.beforeCall = () => {};
  fixture.controller.calls.length = 0;
  const killedAt = Date.now();
  fixture.engine({ pollMs: 500 });
  await fixture.isStatus(id, "running");
  // its claims expire after 4 s; the remaining time is for a busy machine
  expect(Date.now() - killedAt).toBeLessThan(20_000);
  // the first two chunks were recorded, so only the others were requested
  expect(fixture.controller.calls.filter((call) => call.startsWith("schedule"))).toHaveLength(2);
  await stopped;
});
