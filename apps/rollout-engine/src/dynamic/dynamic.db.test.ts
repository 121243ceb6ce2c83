import { createDatabase, runOne } from "@harrier/db";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listMembers } from "../groups/read-groups.ts";
import { pauseRollout, resumeRollout, startRollout } from "../rollouts/drive-rollout.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";
import { typeIds } from "../testing/world.ts";
import { joinGroup } from "./fill.sql.ts";
import { fillRollout } from "./fill.ts";
import { createFiller, type FillerDeps, type FillerOptions } from "./filler.ts";

let world: EngineWorld;
const fillers: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  world = await createEngineWorld();
});
afterEach(async () => {
  await world.stopEngines();
  await Promise.all(fillers.splice(0).map((filler) => filler.stop()));
});
afterAll(() => world?.drop());

const log = { warn: () => {} };
function filler(options: FillerOptions = {}, over: Partial<FillerDeps> = {}) {
  const { db } = world.create;
  const made = createFiller({ db, nudge: () => {}, now: Date.now, log, ...over }, { pollMs: 50, leaseSeconds: 2, ...options });
  made.start();
  fillers.push(made);
  return made;
}
/** As if something had rung; a look at a small fleet rests for two seconds else. */
const ring = () => world.sql("update rollout_engine.dynamic_leases set due_at = now(), rung = rung + 1");
const template = (targetCount: number, nameSuffix = "-d") => ({ dynamicGroupTemplate: { nameSuffix, targetCount } });
const dynamic = (prefix: string, body: Record<string, unknown> = {}) => ({
  targetFilterQuery: `name==${prefix}-*`,
  dynamic: true,
  ...body,
});

interface Shape {
  name: string;
  status: string;
  dynamic: boolean;
  count: number | null;
  total: number;
}
const shape = (id: number) =>
  world.sql<Shape>(
    `select name, status, dynamic, target_count as count, total_targets as total from rollout_engine.rollout_groups
      where rollout_id = $1 order by id`,
    [id],
  );
const sizes = async (id: number) => (await shape(id)).map(({ total }) => total);
/** Names of the targets that have an action of it, each as often as it has one. */
const served = async (id: number) =>
  (
    await world.sql<{ name: string }>("select controller_id as name from controller.actions where rollout_id = $1 order by target_id", [id])
  ).map(({ name }) => name);
const all = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i + 1}`);
/** Waits until the groups have these sizes and every action of a running group has begun. */
const become = (id: number, ...expected: number[]) =>
  eventually(async () => {
    const groups = await world.groups(id);
    expect(groups.map(({ total }) => total)).toEqual(expected);
    expect(groups.every(({ status, started }) => status !== "running" || started)).toBe(true);
    const { totalTargets, counts } = await getRollout(world.create, 1, id);
    const total = expected.reduce((sum, n) => sum + n, 0);
    expect([totalTargets, counts.scheduled + counts.running + counts.finished + counts.error + counts.cancelled]).toEqual([total, total]);
  }, 20_000);

describe("creation", () => {
  test("with a template the dynamic group is there from the beginning, ready and empty", async () => {
    await world.addTargets("a", 4);
    const id = await world.createRollout(dynamic("a", { amountGroups: 2, ...template(5) }));
    const third = { name: "group-3-d", status: "ready", dynamic: true, count: 5, total: 0 };
    expect((await shape(id))[2]).toEqual(third);
    world.engine();
    await world.isStatus(id, "ready");
    expect((await shape(id)).map(({ name, status, total }) => [name, status, total])).toEqual([
      ["group-1", "ready", 2],
      ["group-2", "ready", 2],
      ["group-3-d", "ready", 0],
    ]);
    const told = await world.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  });

  test("without one it is as large and as strict as the last static group", async () => {
    await world.addTargets("b", 7);
    const id = await world.createRollout(dynamic("b", { amountGroups: 2, errorCondition: { condition: "THRESHOLD", expression: "7" } }));
    expect(await shape(id)).toHaveLength(2);
    world.engine();
    await world.isStatus(id, "ready");
    expect((await shape(id))[2]).toEqual({ name: "group-3", status: "ready", dynamic: true, count: 3, total: 0 });
    const [made] = await world.sql(
      "select error_expression, success_expression, target_filter from rollout_engine.rollout_groups where rollout_id = $1 and dynamic",
      [id],
    );
    expect(made).toEqual({ error_expression: "7", success_expression: "50", target_filter: "" });
    const told = await world.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
    expect(told.map((event) => event.what)).toContain("group ready");
  });

  test("a purely dynamic one needs nobody, and takes nobody before it runs", async () => {
    await world.addTargets("c", 3);
    world.engine();
    filler();
    const id = await world.createRollout(dynamic("c", { amountGroups: 0, ...template(2, "") }));
    await world.isStatus(id, "ready");
    expect(await shape(id)).toEqual([{ name: "group-1", status: "ready", dynamic: true, count: 2, total: 0 }]);
    await startRollout(world.drive, world.call, id);
    await become(id, 2, 1);
    expect(await served(id)).toEqual(all("c", 3));
    const none = await world.started(dynamic("nobody-at-all", { amountGroups: 0, ...template(2) }));
    await world.areStatuses(none.id, "running");
  });
});

test("who comes later joins, group after group; who may not have the set does not", async () => {
  await world.addTargets("e", 2);
  world.engine();
  filler();
  const { id, g1, g2 } = await world.started(dynamic("e", { amountGroups: 1, ...template(3) }));
  await world.areStatuses(id, "running", "scheduled");
  await world.addTargets("e-late", 2);
  await world.addTargets("e-alien", 1, { typeId: typeIds.incompatible });
  await ring();
  await become(id, 2, 2);
  // before their group's turn they are only scheduled
  expect(await world.actions(id)).toEqual([
    { status: 3, n: 2 },
    { status: 8, n: 2 },
  ]);
  await world.controller.report(id, g1, 2, "finished");
  await world.areStatuses(id, "finished", "running");
  await become(id, 2, 2);
  // into a running group: begun at once, though an older target comes after newer ones
  await world.sql("update controller.targets set name = 'e-first' where name = 't-1'");
  await ring();
  await become(id, 2, 3, 0);
  expect(await world.actions(id)).toEqual([
    { status: 0, n: 2 },
    { status: 3, n: 3 },
  ]);
  const group = { rolloutId: id, groupId: g2 };
  const targets = {
    async readSecurityTokens() {
      return { tokens: {} };
    },
  };
  const page = await listMembers({ db: world.create.db, now: Date.now, targets }, world.call, group, { offset: 0, limit: 50 });
  expect(page.rows.map((row) => row.name).sort()).toEqual(["e-first", "e-late-1", "e-late-2"]);
  await world.sql("update controller.targets set name = 't-1' where name = 'e-first'");
  await world.controller.report(id, g2, 3, "finished");
  await world.areStatuses(id, "finished", "finished", "running");
  await ring();
  await become(id, 2, 3, 0);
  expect(await world.status(id)).toBe("running");
  const told = await world.events(id);
  expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
});

test("who restricted its creator restricts who joins", async () => {
  await world.addTargets("f", 2, { typeId: typeIds.compatible });
  await world.addTargets("f-plain", 2);
  world.engine();
  filler();
  const principal = { ...world.call.principal, targetTypeScopes: { READ_TARGET: [typeIds.compatible] } };
  const id = await world.createRollout(dynamic("f", { amountGroups: 0, ...template(9) }), principal);
  await world.isStatus(id, "ready");
  await startRollout(world.drive, world.call, id);
  await become(id, 2);
  expect(await served(id)).toEqual(all("f", 2));
});

describe("newer rollouts win over older ones", () => {
  test("a target that one has, finished or not, joins no older one", async () => {
    await world.addTargets("g", 3);
    world.engine();
    const older = await world.started(dynamic("g", { amountGroups: 0, ...template(9) }));
    const newer = await world.started({ targetFilterQuery: "name==g-2" });
    filler();
    await become(older.id, 2);
    expect(await served(older.id)).toEqual(["g-1", "g-3"]);
    expect(await served(newer.id)).toEqual(["g-2"]);
  });

  test("also when it comes between the look and the action", async () => {
    await world.addTargets("h", 2);
    world.engine();
    const older = await world.started(dynamic("h", { amountGroups: 0, ...template(9) }));
    let held: Promise<void> | undefined;
    let go = (): void => {};
    const reached = new Promise<void>((resolve) => {
      world.controller.beforeCall = (command) => {
        if (command !== `schedule ${older.g1}`) return undefined;
        resolve();
        held ??= new Promise<void>((done) => {
          go = done;
        });
        return held;
      };
    });
    filler();
    await reached;
    const newer = await world.started({ targetFilterQuery: "name==h-1" });
    go();
    await become(older.id, 1);
    expect(await served(older.id)).toEqual(["h-2"]);
    expect(await world.actions(newer.id)).toEqual([{ status: 3, n: 1 }]);
  });
});

test("nobody joins while it is paused; who came meanwhile joins when it goes on", async () => {
  await world.addTargets("i", 1);
  world.engine();
  const { id } = await world.started(dynamic("i", { amountGroups: 1, ...template(9) }));
  await pauseRollout(world.drive, world.call, id);
  filler();
  await world.addTargets("i-late", 2);
  await ring();
  const other = await world.started(dynamic("i-late", { targetFilterQuery: "name==few-*", amountGroups: 0, ...template(9) }));
  await become(other.id, 4);
  expect(await sizes(id)).toEqual([1, 0]);
  await resumeRollout(world.drive, world.call, id);
  await become(id, 1, 2);
});

test("two of each share the work: everybody joins once", async () => {
  await world.addTargets("j", 30);
  for (let n = 0; n < 2; n++) {
    world.engine();
    filler();
  }
  const older = await world.createRollout(dynamic("j", { amountGroups: 0, ...template(7) }));
  const newer = await world.createRollout(dynamic("j", { amountGroups: 0, ...template(7) }));
  const made = [older, newer];
  for (const id of made) await world.isStatus(id, "ready");
  await Promise.all(made.map((id) => startRollout(world.drive, world.call, id)));
  await become(newer, 7, 7, 7, 7, 2);
  await world.addTargets("j-late", 5);
  await ring();
  await become(newer, 7, 7, 7, 7, 7, 0);
  expect(await served(newer)).toEqual([...all("j", 30), ...all("j-late", 5)]);
  const names = await served(older);
  expect(new Set(names).size).toBe(names.length);
  for (const id of made) {
    const told = await world.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  }
});

test("two fillers that found the same at the same moment let them join once", async () => {
  await world.addTargets("k", 3);
  world.engine();
  const { id, g1 } = await world.started(dynamic("k", { amountGroups: 0, ...template(9) }));
  await world.stopEngines();
  const { db } = world.create;
  const ids = (await world.sql<{ id: number }>("select id from controller.targets where name like 'k-%' order by id")).map((t) => t.id);
  const joins = await Promise.all([1, 2, 3].map(() => runOne(db.pool, joinGroup, [1, id, g1, -1, ids])));
  expect(joins.map((row) => row?.joined).sort()).toEqual([0, 0, 3]);
  // and nobody looks further before these have their actions
  const deps = { db, nudge: () => {}, now: Date.now };
  await world.addTargets("k-late", 1);
  await fillRollout(deps, { tenantId: 1, rolloutId: id, rung: 0, idle: 0, attempts: 0 });
  expect(await sizes(id)).toEqual([3]);
  expect(await world.actions(id)).toEqual([]);
  world.engine();
  await become(id, 3);
  await fillRollout(deps, { tenantId: 1, rolloutId: id, rung: 0, idle: 0, attempts: 0 });
  await become(id, 4);
  expect(await served(id)).toEqual([...all("k", 3), "k-late-1"]);
});

test.each(["schedule", "start"])("an engine that dies in the middle of a %s is followed by one that ends it", async (step) => {
  const prefix = `l-${step}`;
  await world.addTargets(prefix, 1);
  const cut = createDatabase({ url: world.database.urlOf("rollout-engine"), applicationName: "dying" });
  const dying = world.engine({}, { db: cut });
  const { id, g1, g2 } = await world.started(dynamic(prefix, { amountGroups: 1, ...template(20) }));
  await world.controller.report(id, g1, 1, "finished");
  await world.areStatuses(id, "finished", "running");
  let chunks = 0;
  world.controller.beforeCall = async (command) => {
    if (command !== `${step} ${g2}`) return;
    chunks += 1;
    if (chunks === 2) await new Promise(() => {});
  };
  await world.addTargets(`${prefix}-late`, 11);
  filler();
  await eventually(() => expect(chunks).toBe(2), 20_000);
  world.abandon(dying);
  await cut.close();
  const stopped = dying.stop();
  world.controller.beforeCall = () => {};
  world.engine();
  await become(id, 1, 11);
  expect(await served(id)).toEqual([...all(prefix, 1), ...all(`${prefix}-late`, 11)]);
  expect(await world.actions(id)).toEqual([
    { status: 0, n: 1 },
    { status: 3, n: 11 },
  ]);
  await stopped;
});

test("a filler that cannot go on tells why, and tries again", async () => {
  await world.addTargets("m", 1);
  world.engine();
  const { id } = await world.started(dynamic("m", { amountGroups: 0, ...template(9) }));
  let away = true;
  const now = () => {
    if (away) throw new Error("no time");
    return Date.now();
  };
  filler({}, { now });
  await eventually(async () => {
    const { lastError } = await getRollout(world.create, 1, id);
    expect(lastError?.message).toContain("The log of the rollout engine tells more.");
    expect(lastError?.attempts).toBeGreaterThan(1);
  }, 20_000);
  away = false;
  await become(id, 1);
  await eventually(async () => expect((await getRollout(world.create, 1, id)).lastError).toBeNull(), 20_000);
});

test("targets that are deleted make room, and the totals stay exact", async () => {
  await world.addTargets("n", 5);
  world.engine();
  filler();
  const { id, g1 } = await world.started(dynamic("n", { amountGroups: 0, ...template(9) }));
  await become(id, 5);
  await world.controller.deleteTargets(id, g1, 3);
  await become(id, 2);
  await world.addTargets("n-late", 7);
  await ring();
  await become(id, 9, 0);
});

test("when the tenant's quota of groups is used up, the rollout stops with its last group", async () => {
  await world.addTargets("q", 3);
  await world.sql(
    `insert into management.quotas (tenant_id, key, value, created_by, last_modified_by) values (1, 'ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT', 2, 'x', 'x')`,
  );
  world.engine();
  filler();
  const { id } = await world.started(dynamic("q", { amountGroups: 0, ...template(1) }));
  await become(id, 1, 1);
  for (const { id: groupId } of await world.groups(id)) await world.controller.report(id, groupId, 1, "finished");
  await world.areStatuses(id, "finished", "running");
  await world.controller.report(id, (await world.groups(id))[1]?.id ?? 0, 1, "finished");
  await world.isStatus(id, "stopped");
  expect((await world.events(id)).at(-1)).toMatchObject({ what: "rollout stopped", data: { reason: "quota" } });
  expect(await served(id)).toEqual(["q-1", "q-2"]);
  await world.sql("delete from management.quotas where tenant_id = 1");
});
