import { windowsEnd } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, chunkOf, commandsFixture, contextOf, itemOf, reservedSet, seedMembers } from "../commands.fixture.ts";
import { seedTargets } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await seedTargets(
    fixture,
    Array.from({ length: 8 }, (_, n) => n + 1).map((id) => ({ id })),
  );
});
afterAll(() => fixture.close());

const nightly = { schedule: "0 0 2 ? * *", duration: "01:30", timezone: "+02:00" };
const once = { schedule: "0 0 2 24 12 ? 2098", duration: "01:30:00", timezone: "-05:30" };

test("each action stores its window, and the end of the last one where there is a last one", async () => {
  const items = [
    itemOf("d1", { maintenanceWindow: nightly }),
    itemOf("d2", { maintenanceWindow: once }),
    itemOf("d3", { maintenanceWindow: once }),
    itemOf("d4"),
  ];
  const roundTrips = await fixture.roundTrips.during(() =>
    fixture.actions.assignSet({ set: reservedSet(), items, initiator: "admin" }, contextOf()),
  );
  expect(roundTrips).toBe(1);
  const { rows } = await fixture.database.db("management").pool.query(
    `select maintenance_schedule as schedule, maintenance_duration as duration, maintenance_timezone as timezone
       from controller.actions_v1 order by target_id`,
  );
  expect(rows).toEqual([nightly, once, once, { schedule: null, duration: null, timezone: null }]);
  const ends = await fixture.db.pool.query(
    "select (extract(epoch from maintenance_ends_at) * 1000)::bigint as at from actions order by target_id",
  );
  const end = Date.UTC(2098, 11, 24, 9); // 02:00 at -05:30 is the beginning, and it lasts an hour and a half
  expect(windowsEnd(once, Date.now())).toBe(end);
  expect(ends.rows.map((row) => row.at)).toEqual([null, end, end, null]);
});

const engine = () => fixture.database.db("rollout-engine").pool;
const windowsOf = async (targets: number[]) => {
  const { rows } = await fixture.db.pool.query(
    `select maintenance_schedule as schedule, maintenance_duration as duration, maintenance_timezone as timezone,
            (extract(epoch from maintenance_ends_at) * 1000)::bigint as end
       from actions where target_id = any ($1) order by target_id`,
    [targets],
  );
  return rows;
};
const anyTime = { schedule: null, duration: null, timezone: null, end: null };

test("a rollout gives its window to each of its actions when they are created", async () => {
  await seedMembers(fixture, { rolloutId: 21, groupId: 1 }, [5]);
  await seedMembers(fixture, { rolloutId: 22, groupId: 1 }, [6]);
  for (const chunk of [{ ...chunkOf(21), maintenanceWindow: once }, chunkOf(22)]) {
    await fixture.actions.openFence({ rolloutId: chunk.rolloutId, epoch: 1 }, contextOf());
    await fixture.actions.scheduleChunk(chunk, contextOf());
  }
  expect(await windowsOf([5, 6])).toEqual([{ ...once, end: windowsEnd(once, Date.now()) }, anyTime]);
});

test("an auto-assignment gives its window to each of its actions", async () => {
  await engine().query(
    `insert into target_filters (tenant_id, id, name, query, auto_assign_set_id, auto_assign_type, auto_assign_epoch, created_by,
       last_modified_by) values (1, 7, 'nightly', 'name==x', 100, 1, 1, 'x', 'x')`,
  );
  await engine().query("insert into auto_assign_candidates (tenant_id, filter_id, pass, target_id) values (1, 7, 1, 7), (1, 7, 2, 8)");
  const chunk = {
    filterId: 7,
    epoch: 1,
    cursor: -1,
    set: reservedSet(100),
    forceType: "forced",
    weight: 7,
    initiator: "x",
    safetyOfTypes: [],
    filterName: "n",
  };
  await fixture.actions.autoAssignChunk({ ...chunk, pass: 1, maintenanceWindow: nightly }, contextOf());
  await fixture.actions.autoAssignChunk({ ...chunk, pass: 2, maintenanceWindow: null }, contextOf());
  expect(await windowsOf([7, 8])).toEqual([{ ...nightly, end: null }, anyTime]);
});
