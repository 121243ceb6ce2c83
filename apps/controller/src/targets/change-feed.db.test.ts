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

const update = (controllerId: string) => fixture.targets.updateTarget({ controllerId, name: "other", ifRevisions: [] }, contextOf());
const tag = (controllerIds: string[], onlyAll = true) =>
  fixture.targets.changeTag({ tagId: 1, controllerIds, assign: true, onlyAll }, contextOf());
const metadata = (value: string) =>
  fixture.targets.changeMetadata({ ifRevisions: [], controllerId: "d1", key: "k", value }, contextOf()).catch(() => undefined);

/** Returns the events of targets that the outbox has beyond a row, in their order. */
async function told(after: number): Promise<{ subject: string; sequence: number; changed: string[] }[]> {
  const { rows } = await fixture.db.pool.query(
    `select i.item ->> 'subject' as subject, (i.item ->> 'sequence')::int as sequence, i.item -> 'data' -> 'changed' as changed
       from outbox o cross join json_array_elements(o.items) with ordinality i (item, n)
      where o.id > $1 and o.type = 'io.update.target.changed.v1' order by o.id, i.n`,
    [after],
  );
  return rows;
}

const lastRow = async () => (await fixture.db.pool.query("select coalesce(max(id), 0)::int as id from outbox")).rows[0].id as number;

test("changes of names, tags and metadata notify once each, and tell an event with the next sequence", async () => {
  const before = await lastRow();
  expect(await notified(() => update("d1"))).toEqual([false]);
  expect(await notified(() => tag(["d1"]))).toEqual([false]);
  expect(
    await notified(() =>
      fixture.targets.addMetadata({ controllerId: "d1", entries: [{ key: "k", value: "v" }], overwrite: false }, contextOf()),
    ),
  ).toEqual([false]);
  expect(await notified(() => metadata("w"))).toEqual([false]);
  const subject = "targets/d1";
  expect(await told(before)).toEqual([
    { subject, sequence: 2, changed: ["name"] },
    { subject, sequence: 3, changed: ["tags"] },
    { subject, sequence: 4, changed: ["metadata"] },
    { subject, sequence: 5, changed: ["metadata"] },
  ]);
});

test("a change of many targets is one statement, and no row of the outbox is too large to be sent", async () => {
  await fixture.db.pool.query(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
     select 1, 1000 + n, 'many-' || n, 'm', sha256(n::text::bytea), '', 'x', 'x' from generate_series(1, 12000) n`,
  );
  const before = await lastRow();
  const { rows: ids } = await fixture.db.pool.query("select array_agg(id) as all from targets where controller_id like 'many-%'");
  await fixture.db.pool.query("select change_target_group(1, null, $1::int[], 'g', null, 'ann')", [ids[0].all]);
  const { rows } = await fixture.db.pool.query("select json_array_length(items) as n from outbox where id > $1 order by id", [before]);
  expect(rows.map(({ n }) => n)).toEqual([5000, 5000, 2000]);
  expect(new Set((await told(before)).map(({ subject }) => subject)).size).toBe(12_000);
});

test("a call that changes nothing does not notify", async () => {
  expect(await notified(() => update("nobody").catch(() => undefined))).toEqual([]);
  expect(await notified(() => tag(["d1", "nobody"]))).toEqual([]);
  expect(await notified(() => tag(["d1", "nobody"], false))).toEqual([]);
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
