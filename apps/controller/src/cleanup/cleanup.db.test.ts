import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  itemOf,
  newTarget,
  newTargets,
  progressOf,
  reservedSet,
  runGroup,
  seedMembers,
  setSetting,
} from "../commands.fixture.ts";
import { readHistory, readTarget } from "../device.fixture.ts";
import { withDefaults } from "../settings/defaults.ts";
import { action, left, rollout } from "./cleanup.fixture.ts";
import { cleanUp } from "./cleanup.ts";

const { FINISHED, ERROR, CANCELED, CANCELING, SCHEDULED, DOWNLOADED, RUNNING } = actionStatus;
let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  for (const key of Object.keys(fixture.stored)) delete fixture.stored[key];
  await fixture.db.pool.query("update action_cleanups set due_at = now(), cursor_id = -1");
});

const settings = () => ({
  all: () => new Map([[1, withDefaults(Object.entries(fixture.stored).map(([key, value]) => ({ key, value })))]]),
});
const clean = () => cleanUp({ db: fixture.db, settings: settings(), fault: () => {} });

test("without rules nothing is removed, and no action is read", async () => {
  const target = await newTarget(fixture);
  const old = await action(fixture, target, CANCELED);
  expect(await fixture.roundTrips.during(async () => expect(await clean()).toBe(0))).toBe(0);
  expect(await left(fixture, target)).toEqual([old]);
});

test("a tenant that is being deleted is skipped, and nothing of it comes back", async () => {
  const management = fixture.database.db("management").pool;
  const old = await action(fixture, await newTarget(fixture), CANCELED);
  fixture.stored["action.cleanup.enabled"] = true;
  await fixture.db.pool.query("delete from action_cleanups");
  await management.query("update tenants set status = 'deleting' where tenant_id = 1");
  expect(await clean()).toBe(0);
  expect((await fixture.db.pool.query("select 1 from action_cleanups")).rows).toEqual([]);
  await management.query("update tenants set status = 'active' where tenant_id = 1");
  expect(await clean()).toBeGreaterThan(0);
  expect((await fixture.db.pool.query("select 1 from actions where id = $1", [old])).rows).toEqual([]);
});

test("closed, listed, old actions go with their history; open, waiting, new and other ones stay", async () => {
  const target = await newTarget(fixture);
  const gone = [await action(fixture, target, CANCELED), await action(fixture, target, ERROR)];
  const stays = [
    await action(fixture, target, FINISHED),
    await action(fixture, target, CANCELED, { days: 20 }),
    await action(fixture, target, CANCELING, { active: true }),
    await action(fixture, target, SCHEDULED),
    await action(fixture, target, RUNNING, { active: true }),
  ];
  fixture.stored["action.cleanup.enabled"] = true;
  expect(await fixture.roundTrips.during(clean)).toBe(1);
  expect(await left(fixture, target)).toEqual(stays);
  for (const id of gone) expect(await readHistory(fixture, id)).toEqual([]);
  expect(await readHistory(fixture, stays[0] as number)).toHaveLength(1);
});

test("each removed action is told by an event, the last one of its action, with what it was", async () => {
  const target = await newTarget(fixture);
  const [canceled, failed] = [await action(fixture, target, CANCELED), await action(fixture, target, ERROR, { rolloutId: 77 })];
  await rollout(fixture, 77, "finished");
  fixture.stored["action.cleanup.enabled"] = true;
  await clean();
  const { rows } = await fixture.db.pool.query<{ common: object; items: unknown[][] }>(
    "select common, items from outbox where type = 'io.update.action.deleted.v1' and (items -> 0 ->> 0)::bigint = any($1) order by common ->> 'rolloutId' nulls first",
    [[canceled, failed]],
  );
  const item = (id: number, status: number) => [
    id,
    expect.any(String),
    2,
    status,
    status,
    false,
    1,
    1000,
    null,
    null,
    expect.any(Number),
    status,
  ];
  expect(rows).toEqual([
    { common: { tenant: "DEFAULT", distributionSet: expect.any(Object), initiatedBy: "admin" }, items: [item(canceled, CANCELED)] },
    {
      common: { tenant: "DEFAULT", distributionSet: expect.any(Object), initiatedBy: "admin", rolloutId: 77, rolloutGroupId: 1 },
      items: [item(failed, ERROR)],
    },
  ]);
});

test("open actions and those that have not begun stay, even if the rules list their status", async () => {
  const target = await newTarget(fixture);
  const stays = [await action(fixture, target, SCHEDULED), await action(fixture, target, RUNNING, { active: true })];
  const gone = await action(fixture, target, DOWNLOADED);
  fixture.stored["action.cleanup.auto.expiry"] = 0;
  fixture.stored["action.cleanup.auto.status"] = "SCHEDULED,RUNNING,DOWNLOADED";
  await clean();
  expect(await left(fixture, target)).toEqual(stays);
  expect(await readHistory(fixture, gone)).toEqual([]);
});

test("a scan is done in steps; the next replica continues behind the cursor, and two at once do not overlap", async () => {
  const target = await newTarget(fixture);
  await fixture.db.pool.query(
    `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by, last_modified_by,
       last_modified_at)
     select 1, 100000 + n, $1, 'x', 100, case when n % 2 = 0 then 4 else 0 end, false, 1, 'x', 'x', 'x', now() - interval '40 days'
       from generate_series(1, 5000) n`,
    [target],
  );
  fixture.stored["action.cleanup.enabled"] = true;
  const steps: number[] = [];
  for (let n = 0; n < 10; n++) steps.push(...(await Promise.all([clean(), clean()])));
  expect(steps.every((removed) => removed <= 2_000)).toBe(true);
  expect(steps.reduce((sum, removed) => sum + removed, 0)).toBeGreaterThanOrEqual(2_500);
  const { rows } = await fixture.db.pool.query(
    "select count(*)::int as n, bool_and(status = 0) as finished from actions where id > 100000",
  );
  expect(rows[0]).toEqual({ n: 2_500, finished: true });
  // The scan is over: the tenant waits for its next one.
  expect(await clean()).toBe(0);
  await fixture.db.pool.query("delete from actions where id > 100000");
});

test("a running rollout keeps its actions; a finished one loses them, and keeps its counts", async () => {
  const [a = 0, b = 0, c = 0] = await newTargets(fixture, 3);
  for (const [id, status, targets] of [
    [31, "running", [a]],
    [32, "finished", [b, c]],
  ] as const) {
    await rollout(fixture, id, status);
    await seedMembers(fixture, { rolloutId: id, groupId: 1 }, [...targets]);
    await runGroup(fixture, chunkOf(id));
  }
  const end = async (rolloutId: number, targetId: number) => {
    const { rows } = await fixture.db.pool.query("select id::int from actions where rollout_id = $1 and target_id = $2", [
      rolloutId,
      targetId,
    ]);
    for (const force of [false, true])
      await fixture.actions.cancelAction({ controllerId: `d${targetId}`, actionId: rows[0].id, force }, contextOf());
    await fixture.db.pool.query("update actions set last_modified_at = now() - interval '40 days' where id = $1", [rows[0].id]);
  };
  await end(31, a);
  await end(32, b);
  const before = [await progressOf(fixture, 31), await progressOf(fixture, 32)];
  expect(before).toEqual([
    [0, 0, 0, 0, 1],
    [0, 1, 0, 0, 1],
  ]);
  fixture.stored["action.cleanup.enabled"] = true;
  await clean();
  expect([await left(fixture, a), await left(fixture, b), await left(fixture, c)]).toEqual([
    [expect.any(Number)],
    [],
    [expect.any(Number)],
  ]);
  expect([await progressOf(fixture, 31), await progressOf(fixture, 32)]).toEqual(before);
});

test("the newest remaining action of the installed set counts as the installed one, or none", async () => {
  const target = await newTarget(fixture);
  const [older, newest] = [await action(fixture, target, FINISHED, { days: 10 }), await action(fixture, target, FINISHED)];
  await fixture.db.pool.query("update target_state set installed_set_id = 100, installed_action_id = $2 where target_id = $1", [
    target,
    newest,
  ]);
  Object.assign(fixture.stored, { "action.cleanup.enabled": true, "action.cleanup.actionStatus": "FINISHED" });
  await clean();
  expect(await readTarget(fixture, target)).toMatchObject({ installedSetId: 100, installedActionId: older });
  await fixture.actions.deleteActions({ controllerId: "", actionIds: [older] }, contextOf());
  expect(await readTarget(fixture, target)).toMatchObject({ installedSetId: 100, installedActionId: null });
});

test("a full target loses its oldest closed actions, but only where the tenant wants it", async () => {
  const target = await newTarget(fixture);
  const seeded: number[] = [];
  for (const status of [RUNNING, CANCELED, FINISHED, ERROR])
    seeded.push(await action(fixture, target, status, { days: 1, active: status === RUNNING }));
  fixture.stored.limits = { ACTIONS_PER_TARGET_MAX_COUNT: 4 };
  const assign = () => fixture.actions.assignSet({ set: reservedSet(101), items: [itemOf(`d${target}`)], initiator: "admin" }, contextOf());
  await expect(assign()).rejects.toMatchObject({ code: "quotaTooManyEntries" });
  fixture.stored["action.cleanup.onQuotaHit.percent"] = 50;
  expect((await assign()).actions).toHaveLength(1);
  // Two of four are removed; the open one does not count.
  expect((await left(fixture, target)).filter((id) => seeded.includes(id))).toEqual([seeded[0], seeded[3]]);
});

test("a target without closed actions stays full", async () => {
  const target = await newTarget(fixture);
  await action(fixture, target, RUNNING, { active: true });
  Object.assign(fixture.stored, { limits: { ACTIONS_PER_TARGET_MAX_COUNT: 1 }, "action.cleanup.onQuotaHit.percent": 99 });
  const items = [itemOf(`d${target}`)];
  await expect(fixture.actions.assignSet({ set: reservedSet(101), items, initiator: "admin" }, contextOf())).rejects.toMatchObject({
    code: "quotaTooManyEntries",
  });
});

test("an assignment of several evicts enough for all of them, and nothing where that is impossible", async () => {
  await setSetting(fixture, "multi.assignments.enabled", true);
  try {
    const [target = 0, roomy = 0, busy = 0] = await newTargets(fixture, 3);
    const seeded: number[] = [];
    for (let i = 0; i < 4; i++) seeded.push(await action(fixture, target, FINISHED));
    const untouched = await action(fixture, roomy, FINISHED);
    const kept = await action(fixture, busy, FINISHED);
    for (let i = 0; i < 4; i++) await action(fixture, busy, RUNNING, { active: true });
    Object.assign(fixture.stored, { limits: { ACTIONS_PER_TARGET_MAX_COUNT: 5 }, "action.cleanup.onQuotaHit.percent": 1 });
    const assign = (sets: number, ...targets: number[]) => {
      const items = targets.flatMap((id) => Array.from({ length: sets }, (_, setIndex) => itemOf(`d${id}`, { setIndex })));
      const requested = { sets: [100, 101, 102].slice(0, sets).map((id) => reservedSet(id)), items, initiator: "admin" };
      return fixture.actions.assignSets(requested, contextOf());
    };
    // Four of five are taken: one has to go for two, and two more for the next two.
    expect((await assign(2, target, roomy)).actions).toHaveLength(4);
    expect((await left(fixture, target)).filter((id) => seeded.includes(id))).toEqual(seeded.slice(1));
    expect((await assign(2, target)).actions).toHaveLength(2);
    expect((await left(fixture, target)).filter((id) => seeded.includes(id))).toEqual(seeded.slice(3));
    expect(await left(fixture, roomy)).toContain(untouched);
    await expect(assign(2, busy)).rejects.toMatchObject({ code: "quotaTooManyEntries" });
    expect(await left(fixture, busy)).toContain(kept);
    expect((await assign(1, busy)).actions).toHaveLength(1);
    expect(await left(fixture, busy)).not.toContain(kept);
  } finally {
    await setSetting(fixture, "multi.assignments.enabled", false);
  }
});
