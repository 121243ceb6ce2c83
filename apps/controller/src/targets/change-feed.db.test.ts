import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { createLastPolls } from "../poll/last-polls.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.database
    .db("management")
    .pool.query("insert into target_tags (tenant_id, id, name, created_by, last_modified_by) values (1, 1, 'tag', 'a', 'a')");
  await fixture.targets.createTargets({ targets: [{ controllerId: "d1", name: "d1" }] }, contextOf());
});
afterAll(() => fixture.close());

/** Returns what the engine of target filters sees of a change. */
async function notified(work: () => Promise<unknown>): Promise<boolean[]> {
  const { pool } = fixture.database.db("rollout-engine");
  const { rows: before } = await pool.query("select coalesce(max(id), 0) as id from controller.fleet_changes_v1");
  await work();
  const { rows } = await pool.query("select polled from controller.fleet_changes_v1 where id > $1 and tenant_id = 1 order by id", [
    before[0].id,
  ]);
  return rows.map((row) => row.polled);
}

const update = (controllerId: string) => fixture.targets.updateTarget({ controllerId, name: "other" }, contextOf());
const tag = (controllerIds: string[], onlyAll = true) =>
  fixture.targets.changeTag({ tagId: 1, controllerIds, assign: true, onlyAll }, contextOf());
const metadata = (value: string) =>
  fixture.targets.changeMetadata({ controllerId: "d1", key: "k", value }, contextOf()).catch(() => undefined);

test("changes of names and types, tags and metadata notify once each and publish no event", async () => {
  const outside = async () => (await fixture.db.pool.query("select count(*)::int as n from outbox where items::text <> '[]'")).rows[0].n;
  const before = await outside();
  expect(await notified(() => update("d1"))).toEqual([false]);
  expect(await notified(() => tag(["d1"]))).toEqual([false]);
  expect(await notified(() => tag(["d1", "nobody"], false))).toEqual([false]);
  expect(
    await notified(() =>
      fixture.targets.addMetadata({ controllerId: "d1", entries: [{ key: "k", value: "v" }], overwrite: false }, contextOf()),
    ),
  ).toEqual([false]);
  expect(await notified(() => metadata("w"))).toEqual([false]);
  expect(await outside()).toBe(before);
});

test("a call that changes nothing does not notify", async () => {
  expect(await notified(() => update("nobody").catch(() => undefined))).toEqual([]);
  expect(await notified(() => tag(["d1", "nobody"]))).toEqual([]);
});

test("polls notify where a filter with auto-assignment queries them", async () => {
  const lastPolls = createLastPolls({ pool: fixture.db.pool });
  const poll = () => {
    lastPolls.record(1, 1, Date.now());
    return lastPolls.flush();
  };
  expect(await notified(poll)).toEqual([]);
  const filter = `insert into target_filters (tenant_id, id, name, query, auto_assign_set_id, auto_assign_type, created_by, last_modified_by)
                  values (1, $1::bigint, 'f' || $1::bigint, $2, $3, $4, 'x', 'x')`;
  const { pool } = fixture.database.db("rollout-engine");
  await pool.query(filter, [1, "name==x", 100, 1]);
  await pool.query(filter, [2, "lastControllerRequestAt=lt=5", null, null]);
  expect(await notified(poll)).toEqual([]);
  await pool.query(filter, [3, "lastControllerRequestAt=ge=5", 100, 1]);
  expect(await notified(poll)).toEqual([true]);
});
