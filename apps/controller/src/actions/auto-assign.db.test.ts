import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, newTargets, reservedSet, setSetting } from "../commands.fixture.ts";
import { readHistory, readOutbox, readTarget } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const { RUNNING, CANCELING, WAIT_FOR_CONFIRMATION } = actionStatus;
let nextFilter = 1;

const engine = () => fixture.database.db("rollout-engine").pool;
const own = () => fixture.database.db("controller").pool;

/** Makes new targets that a pass of a new filter has found; the filter assigns set 100. */
async function candidates(size: number): Promise<{ filterId: number; targetIds: number[] }> {
  const filterId = nextFilter++;
  const targetIds = await newTargets(fixture, size);
  await engine().query(
    `insert into target_filters (tenant_id, id, name, query, auto_assign_set_id, auto_assign_type, auto_assign_epoch, created_by,
       last_modified_by) values (1, $1::bigint, 'filter ' || $1::bigint, 'name==x', 100, 1, 1, 'x', 'x')`,
    [filterId],
  );
  await engine().query(
    "insert into auto_assign_candidates (tenant_id, filter_id, pass, target_id) select 1, $1, 1, t.id from unnest($2::int[]) t (id)",
    [filterId, targetIds],
  );
  return { filterId, targetIds };
}

const assign = (filterId: number, change: object = {}) =>
  fixture.actions.autoAssignChunk(
    {
      filterId,
      safetyOfTypes: [],
      epoch: 1,
      pass: 1,
      cursor: -1,
      set: reservedSet(100),
      forceType: "soft",
      weight: 7,
      maintenanceWindow: null,
      initiator: "somebody",
      filterName: `filter ${filterId}`,
      ...change,
    },
    contextOf({ kind: "service", subject: "rollout-engine" }),
  );
const actionsOf = async (targetId: number) =>
  (
    await own().query(
      `select id::int, set_id::int as "setId", status, active, force_type as "forceType", weight, initiated_by as initiator
         from actions where target_id = $1 order by id`,
      [targetId],
    )
  ).rows;

test("each candidate gets one action with history, state and event, in two round trips", async () => {
  const { filterId, targetIds } = await candidates(3);
  const before = (await readOutbox(fixture)).length;
  const roundTrips = await fixture.roundTrips.during(async () => {
    expect(await assign(filterId)).toEqual({ cursor: targetIds.at(-1), done: true, created: 3 });
  });
  expect(roundTrips).toBe(2); // the ids are taken over another connection here
  for (const id of targetIds) {
    const [action, ...others] = await actionsOf(id);
    expect(others).toEqual([]);
    expect(action).toMatchObject({ setId: 100, status: RUNNING, active: true, forceType: 0, weight: 7, initiator: "somebody" });
    expect(await readHistory(fixture, action.id)).toMatchObject([
      { revision: 1, status: RUNNING, messages: [`Auto assignment: filter ${filterId}`] },
    ]);
    expect(await readTarget(fixture, id)).toMatchObject({ assignedSetId: 100, updateStatus: updateStatus.pending });
  }
  const rows = (await readOutbox(fixture)).slice(before);
  expect(rows).toMatchObject([{ topic: "action-events", type: "io.update.action.created.v1", common: { initiatedBy: "somebody" } }]);
  expect(rows[0]?.items).toHaveLength(3);
  // A repetition finds nothing to do.
  expect(await assign(filterId)).toMatchObject({ created: 0, done: true });
  expect(await actionsOf(targetIds[0] ?? 0)).toHaveLength(1);
});

test("two calls at once give no target two actions", async () => {
  const { filterId, targetIds } = await candidates(20);
  const answers = await Promise.all([assign(filterId), assign(filterId), assign(filterId)]);
  expect(answers.reduce((sum, { created }) => sum + (created ?? 0), 0)).toBe(20);
  for (const id of targetIds) expect(await actionsOf(id)).toHaveLength(1);
});

test("calls for another epoch, another set or a deleted set are rejected, and so are those that wait for the change", async () => {
  const { filterId, targetIds } = await candidates(2);
  const fenced = { code: "fenced" };
  await expect(assign(filterId, { epoch: 2 })).rejects.toMatchObject(fenced);
  await expect(assign(filterId, { set: reservedSet(101) })).rejects.toMatchObject(fenced);
  const management = fixture.database.db("management").pool;
  await management.query("update distribution_sets set valid = false where tenant_id = 1 and id = 100");
  await expect(assign(filterId)).rejects.toMatchObject(fenced);
  await management.query("update distribution_sets set valid = true where tenant_id = 1 and id = 100");
  // Rollout-engine ends the auto-assignment while the call is under way.
  const client = await engine().connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended('harrier auto-assignment ' || 1 || '/' || $1::bigint, 0))", [
      filterId,
    ]);
    const waiting = expect(assign(filterId)).rejects.toMatchObject(fenced);
    await client.query(
      "update target_filters set auto_assign_set_id = null, auto_assign_type = null, auto_assign_epoch = 2 where id = $1",
      [filterId],
    );
    await client.query("commit");
    await waiting;
  } finally {
    client.release();
  }
  for (const id of targetIds) expect(await actionsOf(id)).toEqual([]);
});

test("targets that have or ever had the set are skipped; running actions are superseded as by any assignment", async () => {
  const { filterId, targetIds } = await candidates(4);
  const [had, has, busy, full] = targetIds as [number, number, number, number];
  await fixture.actions.assignSet({ set: reservedSet(100), items: [itemOf(`d${had}`)], initiator: "admin" }, contextOf());
  await fixture.actions.assignSet(
    { set: reservedSet(101), items: [itemOf(`d${had}`), itemOf(`d${busy}`)], initiator: "admin" },
    contextOf(),
  );
  await own().query("update target_state set assigned_set_id = 100 where target_id = $1", [has]);
  await own().query(
    `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by,
       last_modified_by)
     select 1, 1000000 + n, $1, 'd' || $1::int, 102, 0, false, 1, 'x', 'x', 'x' from generate_series(1, 2000) n`,
    [full],
  );
  expect(await assign(filterId)).toMatchObject({ created: 1, done: true });
  expect(await actionsOf(busy)).toMatchObject([
    { setId: 101, status: CANCELING },
    { setId: 100, status: RUNNING },
  ]);
  expect(await actionsOf(had)).toMatchObject([{ setId: 100 }, { setId: 101, status: RUNNING }]);
  expect(await actionsOf(has)).toEqual([]);
  expect(await actionsOf(full)).toHaveLength(2_000);
});

test("with the confirmation flow on actions wait, unless the filter or the target needs no confirmation", async () => {
  await setSetting(fixture, "user.confirmation.flow.enabled", true);
  const [asking, silent] = [await candidates(2), await candidates(1)];
  const [waits, confirms] = asking.targetIds as [number, number];
  await own().query("insert into auto_confirmations (tenant_id, target_id, initiator, created_by) values (1, $1, 'i', 'x')", [confirms]);
  await assign(asking.filterId, { confirmationRequired: true });
  await assign(silent.filterId, { confirmationRequired: false });
  await setSetting(fixture, "user.confirmation.flow.enabled", undefined);
  expect(await actionsOf(waits)).toMatchObject([{ status: WAIT_FOR_CONFIRMATION }]);
  expect(await actionsOf(confirms)).toMatchObject([{ status: RUNNING }]);
  expect(await actionsOf(silent.targetIds[0] ?? 0)).toMatchObject([{ status: RUNNING }]);
});
