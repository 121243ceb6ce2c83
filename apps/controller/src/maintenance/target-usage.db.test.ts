import { runOne } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, seedActions, seedTargets } from "../device.fixture.ts";
import { walkTargetUsage } from "./maintenance.sql.ts";

let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());

const walk = async (max = 1_000) => (await runOne(fixture.db.pool, walkTargetUsage, [max]))?.scanned;
const due = () => fixture.db.pool.query("update target_usage set due_at = now()");
const usage = async () =>
  (await fixture.database.db("management").pool.query("select * from controller.target_usage_v1 where tenant_id = 1")).rows[0];
const attributes = (target: number, n: number) =>
  fixture.db.pool.query("insert into target_attributes select 1, $1, 'k' || i, 'v' from generate_series(1, $2) i", [target, n]);

test("the maximum over all targets is found in steps, and is lower again when its target is deleted", async () => {
  await seedTargets(fixture, [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }]);
  await attributes(1, 3);
  await attributes(4, 7);
  await seedActions(fixture, [
    { id: 11, targetId: 2, revision: 9 },
    { id: 12, targetId: 3, active: false },
    { id: 13, targetId: 3 },
  ]);
  await fixture.db.pool.query("update action_history set messages = array['a', 'b', 'c'] where action_id = 13");

  for (const scanned of [2, 2, 1]) {
    expect(await walk(2)).toBe(scanned);
    if (scanned === 2) await due();
  }
  expect(await usage()).toEqual({ tenant_id: 1, attributes: 7, actions: 2, status_entries: 9, messages: 3 });
  // The scan is paused: nothing is due.
  expect(await walk()).toBe(0);

  await fixture.db.pool.query("delete from target_attributes where target_id = 4");
  await attributes(5, 5);
  await due();
  await walk(3);
  expect(await usage()).toMatchObject({ attributes: 7 });
  await due();
  await walk(3);
  expect(await usage()).toMatchObject({ attributes: 5, actions: 2 });
});

test("a step that exceeds the result of the last scan shows at once", async () => {
  await attributes(2, 50);
  await due();
  await walk(2);
  expect(await usage()).toMatchObject({ attributes: 50 });
});

test("of two replicas at once one does it, and a tenant without targets is no problem", async () => {
  await due();
  await fixture.db.pool.query("delete from targets");
  expect(await Promise.all([walk(), walk(), walk()])).toEqual([0, 0, 0]);
  await due();
  await walk();
  expect(await usage()).toMatchObject({ attributes: 0, actions: 0, status_entries: 0, messages: 0 });
});
