import { createDatabase, runOne } from "@harrier/db";
import type { LeaseOptions } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listMembers } from "../groups/read-groups.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { pauseRollout, resumeRollout, startRollout } from "../rollouts/rollout-commands.ts";
import { typeIds } from "../testing/database.fixture.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { joinGroup } from "./fill.sql.ts";
import { type FillDeps, fillRollout } from "./fill.ts";
import { createFiller } from "./filler.ts";

let fixture: EngineFixture;
const fillers: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(async () => {
  await fixture.stopEngines();
  await Promise.all(fillers.splice(0).map((filler) => filler.stop()));
});
afterAll(() => fixture?.drop());

const log = { warn: () => {} };
function filler(options: Partial<LeaseOptions> = {}, over: Partial<FillDeps> = {}) {
  const { db } = fixture.create;
  const made = createFiller({ db, wake: () => {}, now: Date.now, ...over }, { pollMs: 50, leaseSeconds: 2, slots: 3, log, ...options });
  made.start();
  fillers.push(made);
  return made;
}
/** Notifies directly, because the cooldown after a scan of even a small fleet is two seconds. */
const notify = () => fixture.sql("update rollout_engine.dynamic_leases set due_at = now(), notifications = notifications + 1");
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
  fixture.sql<Shape>(
    `select name, status, dynamic, target_count as count, total_targets as total from rollout_engine.rollout_groups
      where rollout_id = $1 order by id`,
    [id],
  );
const sizes = async (id: number) => (await shape(id)).map(({ total }) => total);
/** Answers the names of the targets that have actions of the rollout, once for each action. */
const served = async (id: number) =>
  (
    await fixture.sql<{ name: string }>("select controller_id as name from controller.actions where rollout_id = $1 order by target_id", [
      id,
    ])
  ).map(({ name }) => name);
const all = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}-${i + 1}`);
/** Waits until the groups have these sizes and every action of a running group has begun. */
const become = (id: number, ...expected: number[]) =>
  eventually(async () => {
    const groups = await fixture.groups(id);
    expect(groups.map(({ total }) => total)).toEqual(expected);
    expect(groups.every(({ status, started }) => status !== "running" || started)).toBe(true);
    const { totalTargets, counts } = await getRollout(fixture.create, 1, id);
    const total = expected.reduce((sum, n) => sum + n, 0);
    expect([totalTargets, counts.scheduled + counts.running + counts.finished + counts.error + counts.cancelled]).toEqual([total, total]);
  }, 20_000);

describe("creation of a dynamic rollout", () => {
  test("with a template the dynamic group exists from the start, ready and empty", async () => {
    await fixture.addTargets("a", 4);
    const id = await fixture.createRollout(dynamic("a", { amountGroups: 2, ...template(5) }));
    const third = { name: "group-3-d", status: "ready", dynamic: true, count: 5, total: 0 };
    expect((await shape(id))[2]).toEqual(third);
    fixture.engine();
    await fixture.isStatus(id, "ready");
    expect((await shape(id)).map(({ name, status, total }) => [name, status, total])).toEqual([
      ["group-1", "ready", 2],
      ["group-2", "ready", 2],
      ["group-3-d", "ready", 0],
    ]);
    const told = await fixture.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
  });

  test("without a template the dynamic group has the size and thresholds of the last static group", async () => {
    await fixture.addTargets("b", 7);
    const id = await fixture.createRollout(dynamic("b", { amountGroups: 2, errorCondition: { condition: "THRESHOLD", expression: "7" } }));
    expect(await shape(id)).toHaveLength(2);
    fixture.engine();
    await fixture.isStatus(id, "ready");
    expect((await shape(id))[2]).toEqual({ name: "group-3", status: "ready", dynamic: true, count: 3, total: 0 });
    const [made] = await fixture.sql(
      "select error_expression, success_expression, target_filter from rollout_engine.rollout_groups where rollout_id = $1 and dynamic",
      [id],
    );
    expect(made).toEqual({ error_expression: "7", success_expression: "50", target_filter: "" });
    const told = await fixture.events(id);
    expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
    expect(told.map((event) => event.what)).toContain("group ready");
  });

  test("a rollout with only dynamic groups needs no targets, and none joins before it runs", async () => {
    await fixture.addTargets("c", 3);
    fixture.engine();
    filler();
    const id = await fixture.createRollout(dynamic("c", { amountGroups: 0, ...template(2, "") }));
    await fixture.isStatus(id, "ready");
    expect(await shape(id)).toEqual([{ name: "group-1", status: "ready", dynamic: true, count: 2, total: 0 }]);
    await startRollout(fixture.drive, fixture.call, id);
    await become(id, 2, 1);
    expect(await served(id)).toEqual(all("c", 3));
    const none = await fixture.started(dynamic("nobody-at-all", { amountGroups: 0, ...template(2) }));
    await fixture.areStatuses(none.id, "running");
  });
});

test("later targets join group after group; targets that may not have the set do not join", async () => {
  await fixture.addTargets("e", 2);
  fixture.engine();
  filler();
  const { id, g1, g2 } = await fixture.started(dynamic("e", { amountGroups: 1, ...template(3) }));
  await fixture.areStatuses(id, "running", "scheduled");
  await fixture.addTargets("e-late", 2);
  await fixture.addTargets("e-alien", 1, { typeId: typeIds.incompatible });
  await notify();
  await become(id, 2, 2);
  // their actions are only scheduled until the group starts
  expect(await fixture.actions(id)).toEqual([
    { status: 3, n: 2 },
    { status: 8, n: 2 },
  ]);
  await fixture.controller.report(id, g1, 2, "finished");
  await fixture.areStatuses(id, "finished", "running");
  await become(id, 2, 2);
  // in a running group its action is started at once, although this target is older than the members
  await fixture.sql("update controller.targets set name = 'e-first' where name = 't-1'");
  await notify();
  await become(id, 2, 3, 0);
  expect(await fixture.actions(id)).toEqual([
    { status: 0, n: 2 },
    { status: 3, n: 3 },
  ]);
  const group = { rolloutId: id, groupId: g2 };
  const targets = {
    async readSecurityTokens() {
      return { tokens: {} };
    },
  };
  const page = await listMembers({ db: fixture.create.db, now: Date.now, targets }, fixture.call, group, { offset: 0, limit: 50 });
  expect(page.rows.map((row) => row.name).sort()).toEqual(["e-first", "e-late-1", "e-late-2"]);
  await fixture.sql("update controller.targets set name = 't-1' where name = 'e-first'");
  await fixture.controller.report(id, g2, 3, "finished");
  await fixture.areStatuses(id, "finished", "finished", "running");
  await notify();
  await become(id, 2, 3, 0);
  expect(await fixture.status(id)).toBe("running");
  const told = await fixture.events(id);
  expect(told.map((event) => event.sequence)).toEqual(told.map((_, index) => index + 1));
});

test("targets outside the restriction of the rollout's creator do not join", async () => {
  await fixture.addTargets("f", 2, { typeId: typeIds.compatible });
  await fixture.addTargets("f-plain", 2);
  fixture.engine();
  filler();
  const principal = { ...fixture.call.principal, targetTypeScopes: { READ_TARGET: [typeIds.compatible] } };
  const id = await fixture.createRollout(dynamic("f", { amountGroups: 0, ...template(9) }), principal);
  await fixture.isStatus(id, "ready");
  await startRollout(fixture.drive, fixture.call, id);
  await become(id, 2);
  expect(await served(id)).toEqual(all("f", 2));
});

describe("newer rollouts win over older ones", () => {
  test("a target with an action of a newer rollout, finished or not, joins no older rollout", async () => {
    await fixture.addTargets("g", 3);
    fixture.engine();
    const older = await fixture.started(dynamic("g", { amountGroups: 0, ...template(9) }));
    const newer = await fixture.started({ targetFilterQuery: "name==g-2" });
    filler();
    await become(older.id, 2);
    expect(await served(older.id)).toEqual(["g-1", "g-3"]);
    expect(await served(newer.id)).toEqual(["g-2"]);
  });

  test("this holds even if the newer action is created between the search and the join", async () => {
    await fixture.addTargets("h", 2);
    fixture.engine();
    const older = await fixture.started(dynamic("h", { amountGroups: 0, ...template(9) }));
    let held: Promise<void> | undefined;
    let go = (): void => {};
    const reached = new Promise<void>((resolve) => {
      fixture.controller.beforeCall = (command) => {
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
    const newer = await fixture.started({ targetFilterQuery: "name==h-1" });
    go();
    await become(older.id, 1);
    expect(await served(older.id)).toEqual(["h-2"]);
    expect(await fixture.actions(newer.id)).toEqual([{ status: 3, n: 1 }]);
  });
});

test("no target joins a paused rollout; the targets of that time join after the resume", async () => {
  await fixture.addTargets("i", 1);
  fixture.engine();
  const { id } = await fixture.started(dynamic("i", { amountGroups: 1, ...template(9) }));
  await pauseRollout(fixture.drive, fixture.call, id);
  filler();
  await fixture.addTargets("i-late", 2);
  await notify();
  const other = await fixture.started(dynamic("i-late", { targetFilterQuery: "name==few-*", amountGroups: 0, ...template(9) }));
  await become(other.id, 4);
  expect(await sizes(id)).toEqual([1, 0]);
  await resumeRollout(fixture.drive, fixture.call, id);
  await become(id, 1, 2);
});

test("two fillers share the work, and every target joins once", async () => {
  await fixture.addTargets("j", 30);
  for (let n = 0; n < 2; n++) {
    fixture.engine();
    filler();
  }
  const older = await fixture.createRollout(dynamic("j", { amountGroups: 0, ...template(7) }));
  const newer = await fixture.createRollout(dynamic("j", { amountGroups: 0, ...template(7) }));
  const made = [older, newer];
  for (const id of made) await fixture.isStatus(id, "ready");
  await Promise.all(made.map((id) => startRollout(fixture.drive, fixture.call, id)));
  await become(newer, 7, 7, 7, 7, 2);
  await fixture.addTargets("j-late", 5);
  await notify();
  await become(newer, 7, 7, 7, 7, 7, 0);
  expect(await served(newer)).toEqual([...all("j", 30), ...all("j-late", 5)]);
  const names = await served(older);
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
  expect(await sizes(id)).toEqual([3]);
  expect(await fixture.actions(id)).toEqual([]);
  fixture.engine();
  await become(id, 3);
  await fillRollout(deps, { tenantId: 1, rolloutId: id, notifications: 0, idle: 0, attempts: 0 });
  await become(id, 4);
  expect(await served(id)).toEqual([...all("k", 3), "k-late-1"]);
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
  filler();
  await eventually(() => expect(chunks).toBe(2), 20_000);
  fixture.abandon(dying);
  await cut.close();
  const stopped = dying.stop();
  fixture.controller.beforeCall = () => {};
  fixture.engine();
  await become(id, 1, 11);
  expect(await served(id)).toEqual([...all(prefix, 1), ...all(`${prefix}-late`, 11)]);
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
  filler({}, { now });
  await eventually(async () => {
    const { lastError } = await getRollout(fixture.create, 1, id);
    expect(lastError?.message).toContain("The log of the rollout engine tells more.");
    expect(lastError?.attempts).toBeGreaterThan(1);
  }, 20_000);
  away = false;
  await become(id, 1);
  await eventually(async () => expect((await getRollout(fixture.create, 1, id)).lastError).toBeNull(), 20_000);
});

test("deleted targets make room in the group, and the totals stay exact", async () => {
  await fixture.addTargets("n", 5);
  fixture.engine();
  filler();
  const { id, g1 } = await fixture.started(dynamic("n", { amountGroups: 0, ...template(9) }));
  await become(id, 5);
  await fixture.controller.deleteTargets(id, g1, 3);
  await become(id, 2);
  await fixture.addTargets("n-late", 7);
  await notify();
  await become(id, 9, 0);
});

test("when the tenant's quota of groups is used up, the rollout stops with its last group", async () => {
  await fixture.addTargets("q", 3);
  await fixture.sql(
    `insert into management.quotas (tenant_id, key, value, created_by, last_modified_by) values (1, 'ROLLOUT_GROUPS_PER_ROLLOUT_MAX_COUNT', 2, 'x', 'x')`,
  );
  fixture.engine();
  filler();
  const { id } = await fixture.started(dynamic("q", { amountGroups: 0, ...template(1) }));
  await become(id, 1, 1);
  for (const { id: groupId } of await fixture.groups(id)) await fixture.controller.report(id, groupId, 1, "finished");
  await fixture.areStatuses(id, "finished", "running");
  await fixture.controller.report(id, (await fixture.groups(id))[1]?.id ?? 0, 1, "finished");
  await fixture.isStatus(id, "stopped");
  expect((await fixture.events(id)).at(-1)).toMatchObject({ what: "rollout stopped", data: { reason: "quota" } });
  expect(await served(id)).toEqual(["q-1", "q-2"]);
  await fixture.sql("delete from management.quotas where tenant_id = 1");
});
