import { createDatabase } from "@harrier/db";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startRollout } from "../rollouts/drive-rollout.ts";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";
import { driveRollout } from "./drive.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await createEngineWorld();
});
afterEach(() => world.stopEngines());
afterAll(() => world?.drop());

test("two share the work and do nothing twice", async () => {
  const first = world.engine();
  const second = world.engine();
  const ids = await Promise.all(Array.from({ length: 6 }, () => world.createRollout({ amountGroups: 3 })));
  for (const id of ids) await world.isStatus(id, "ready");
  await Promise.all(ids.map((id) => startRollout(world.drive, world.call, id)));
  for (const id of ids) await world.isStatus(id, "running");
  for (const id of ids) {
    expect((await world.actions(id)).reduce((sum, row) => sum + row.n, 0)).toBe(12);
    const told = await world.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
    // 1 + 3 created, 3 + 1 ready, starting, running, 3 scheduled, 1 running
    expect(told).toHaveLength(14);
  }
  await Promise.all([first.stop(), second.stop()]);
});

test("both at one rollout, without any lease between them, end where one would", async () => {
  const { db } = world.create;
  const deps = { db, actions: world.controller.actions, fault: () => {}, now: Date.now };
  const id = await world.createRollout({ amountGroups: 3, startAt: 1 });
  const signal = new AbortController().signal;
  const racer = async () => {
    for (let attempt = 0; attempt < 60; attempt++) {
      // the one that comes second to the freeze is told to come again
      const ended = await driveRollout(deps, { tenantId: 1, rolloutId: id }, signal).catch(() => undefined);
      if (ended !== undefined && ended.dueAt !== 0) return; // 0: its turn is over, its work is not
    }
  };
  await Promise.all([racer(), racer(), racer()]);
  expect(await world.groupStatuses(id)).toEqual(["running", "scheduled", "scheduled"]);
  expect((await world.groups(id)).map((group) => group.started)).toEqual([true, false, false]);
  const told = await world.events(id);
  expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  expect(told).toHaveLength(14);
  expect(await world.actions(id)).toEqual([
    { status: 3, n: 4 },
    { status: 8, n: 8 },
  ]);
});

test("the work of one that dies is taken over within seconds, where it was", async () => {
  const id = await world.createRollout({ amountGroups: 1 });
  // with connections of its own, to be cut: then nothing can be noted, renewed or given back, as if the process were killed
  const cut = createDatabase({ url: world.database.urlOf("rollout-engine"), applicationName: "dying" });
  const dying = world.engine({}, { db: cut });
  await world.isStatus(id, "ready");
  let chunks = 0;
  world.controller.beforeCall = async (command) => {
    if (!command.startsWith("schedule")) return;
    chunks += 1;
    if (chunks === 3) await new Promise(() => {});
  };
  await startRollout(world.drive, world.call, id);
  await eventually(() => expect(chunks).toBe(3));
  world.abandon(dying);
  await cut.close();
  const stopped = dying.stop();
  world.controller.beforeCall = () => {};
  world.controller.calls.length = 0;
  const killedAt = Date.now();
  world.engine({ pollMs: 500 });
  await world.isStatus(id, "running");
  // its claims end after 4 s; the rest is for a machine that is busy
  expect(Date.now() - killedAt).toBeLessThan(20_000);
  // the first two chunks were noted: only the rest was asked for
  expect(world.controller.calls.filter((call) => call.startsWith("schedule"))).toHaveLength(2);
  await stopped;
});
