import { createDatabase, runOne } from "@harrier/db";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { startRollout } from "../rollouts/rollout-commands.ts";
import { all, createDynamicFixture, type DynamicFixture, dynamic, template } from "../testing/dynamic.fixture.ts";
import { joinGroup } from "./fill.sql.ts";
import { fillRollout } from "./fill.ts";

// Several fillers and engines at once, of which one fails or dies.

let dynamics: DynamicFixture;
let fixture: DynamicFixture["fixture"];

beforeAll(async () => {
  dynamics = await createDynamicFixture();
  fixture = dynamics.fixture;
});
afterEach(() => dynamics.stop());
afterAll(() => fixture?.drop());

test("two fillers share the work, and every target joins once", async () => {
  await fixture.addTargets("j", 30);
  for (let n = 0; n < 2; n++) {
    fixture.engine();
    dynamics.filler();
  }
  const older = await fixture.createRollout(dynamic("j", { amountGroups: 0, ...template(7) }));
  const newer = await fixture.createRollout(dynamic("j", { amountGroups: 0, ...template(7) }));
  const made = [older, newer];
  for (const id of made) await fixture.isStatus(id, "ready");
  await Promise.all(made.map((id) => startRollout(fixture.drive, fixture.call, id)));
  await dynamics.become(newer, 7, 7, 7, 7, 2);
  await fixture.addTargets("j-late", 5);
  await dynamics.notify();
  await dynamics.become(newer, 7, 7, 7, 7, 7, 0);
  expect(await dynamics.served(newer)).toEqual([...all("j", 30), ...all("j-late", 5)]);
  const names = await dynamics.served(older);
  expect(new Set(names).size).toBe(names.length);
  for (const id of made) {
    const told = await fixture.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  }
});

test("if two fillers find the same targets at the same moment, these join once", async () => {
  await fixture.addTargets("k", 3);
  fixture.engine();
  const { id, g1 } = await fixture.started(dynamic("k", { amountGroups: 0, ...template(9) }));
  await fixture.stopEngines();
  const { db } = fixture.create;
  const ids = (await fixture.sql<{ id: number }>("select id from controller.targets where name like 'k-%' order by id")).map((t) => t.id);
  const joins = await Promise.all([1, 2, 3].map(() => runOne(db.pool, joinGroup, [1, id, g1, -1, ids])));
  expect(joins.map((row) => row?.joined).sort()).toEqual([0, 0, 3]);
  // no further targets are searched before these have their actions
  const deps = { db, wake: () => {}, now: Date.now };
  await fixture.addTargets("k-late", 1);
  await fillRollout(deps, { tenantId: 1, rolloutId: id, notifications: 0, idle: 0, attempts: 0 });
  expect(await dynamics.sizes(id)).toEqual([3]);
  expect(await fixture.actions(id)).toEqual([]);
  fixture.engine();
  await dynamics.become(id, 3);
  await fillRollout(deps, { tenantId: 1, rolloutId: id, notifications: 0, idle: 0, attempts: 0 });
  await dynamics.become(id, 4);
  expect(await dynamics.served(id)).toEqual([...all("k", 3), "k-late-1"]);
});

test.each(["schedule", "start"])("when an engine dies in the middle of a %s, another one completes it", async (step) => {
  const prefix = `l-${step}`;
  await fixture.addTargets(prefix, 1);
  const cut = createDatabase({ url: fixture.database.urlOf("rollout-engine"), applicationName: "dying" });
  const dying = fixture.engine({}, { db: cut });
  const { id, g1, g2 } = await fixture.started(dynamic(prefix, { amountGroups: 1, ...template(20) }));
  await fixture.controller.report(id, g1, 1, "finished");
  await fixture.areStatuses(id, "finished", "running");
  let chunks = 0;
  fixture.controller.beforeCall = async (command) => {
    if (command !== `${step} ${g2}`) return;
    chunks += 1;
    if (chunks === 2) await new Promise(() => {});
  };
  await fixture.addTargets(`${prefix}-late`, 11);
  dynamics.filler();
  await eventually(() => expect(chunks).toBe(2), 20_000);
  fixture.abandon(dying);
  await cut.close();
  const stopped = dying.stop();
  fixture.controller.beforeCall = () => {};
  fixture.engine();
  await dynamics.become(id, 1, 11);
  expect(await dynamics.served(id)).toEqual([...all(prefix, 1), ...all(`${prefix}-late`, 11)]);
  expect(await fixture.actions(id)).toEqual([
    { status: 0, n: 1 },
    { status: 3, n: 11 },
  ]);
  await stopped;
});

test("a filler that fails logs the error and tries again", async () => {
  await fixture.addTargets("m", 1);
  fixture.engine();
  const { id } = await fixture.started(dynamic("m", { amountGroups: 0, ...template(9) }));
  let away = true;
  const now = () => {
    if (away) throw new Error("no time");
    return Date.now();
  };
  dynamics.filler({}, { now });
  await eventually(async () => {
    const { lastError } = await getRollout(fixture.create, 1, id);
    expect(lastError?.message).toContain("The log of the rollout engine tells more.");
    expect(lastError?.attempts).toBeGreaterThan(1);
  }, 20_000);
  away = false;
  await dynamics.become(id, 1);
  await eventually(async () => expect((await getRollout(fixture.create, 1, id)).lastError).toBeNull(), 20_000);
});
