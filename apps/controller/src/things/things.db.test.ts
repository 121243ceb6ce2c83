import { run, runOne } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { catchUp } from "./behind.ts";
import { type Position, tellAgain } from "./outgoing.sql.ts";
import { callUpdateThing } from "./things.sql.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  const management = fixture.database.db("management").pool;
  await management.query(
    "insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'gate', 'Gate Way', 'a', 'a')",
  );
});
afterAll(() => fixture.close());

let ids: number[];
beforeEach(async () => {
  await fixture.db.pool.query("delete from targets");
  const targets = ["x", "y", "polls"].map((controllerId) => ({
    controllerId,
    name: controllerId,
    address: controllerId === "polls" ? "http://10.0.0.1" : "amqp://v/replies",
  }));
  const created = await fixture.targets.createTargets({ targets }, contextOf({}, `new-${Math.random()}`));
  ids = (created.targets ?? []).map(({ id }) => id as number);
  await fixture.db.pool.query("update target_state set request_attributes = false");
  await fixture.db.pool.query("delete from outbox");
});

const told = async () => (await fixture.db.pool.query("select type, common, items from outbox order by id")).rows;
const update = (name: string | null, type: string | null) =>
  runOne(fixture.db.pool, callUpdateThing, [1, "x", "amqp://v/replies", name, type]);
const events = async () =>
  (await told()).flatMap(({ type, items }) =>
    type === "io.update.target.changed.v1" ? items.map((item: { data: object }) => item.data) : [],
  );

test("a thing that registers anew with another name or type tells an event, and else none; it is told what to do each time", async () => {
  const unknown = (row: Awaited<ReturnType<typeof update>>) => row?.unknownType;
  expect(unknown(await update(null, null))).toBe(false);
  expect(unknown(await update("x", "unknown"))).toBe(true);
  expect(await events()).toEqual([]);
  expect(unknown(await update("new name", "gate way"))).toBe(false);
  expect(unknown(await update(null, ""))).toBe(false);
  expect(await events()).toMatchObject([
    { controllerId: "x", name: "new name", targetTypeId: 7, changed: ["name", "targetType"], initiatedBy: "CONTROLLER_PLUG_AND_PLAY" },
    { controllerId: "x", targetTypeId: null, changed: ["targetType"] },
  ]);
  expect((await told()).filter(({ type }) => type === "feed.thing")).toHaveLength(4);
});

test("things among many targets that shall send their attributes are told in one row, those alone that were not asked before", async () => {
  const ask = (targetIds: number[]) =>
    fixture.targets.changeTargetsById({ targetIds, change: "requestAttributes", value: 0, initiator: "ann" }, contextOf({}));
  const asked = async () => (await told()).flatMap(({ type, common }) => (type === "feed.things" ? [common] : []));
  await ask(ids.slice(2));
  expect(await asked()).toEqual([]);
  await ask(ids.slice(0, 1));
  await ask(ids);
  expect(await asked()).toEqual([
    { things: ["x"], what: "attributes" },
    { things: ["y"], what: "attributes" },
  ]);
});

test("the things of a tenant that gets messages again are told what they shall do, by the holder of the lease alone", async () => {
  const again = (holder: string) =>
    run(fixture.db.pool, tellAgain, [holder, JSON.stringify({ tenants: [1], behind: [] }), [1], ["v"], [null], [""]]);
  await fixture.db.pool.query("update device_messages_cursor set holder = 'one', position = $1", [
    JSON.stringify({ seen: "1:1:", behind: [1] }),
  ]);
  await fixture.db.pool.query("update target_state set request_attributes = true where target_id = any($1)", [[ids[1], ids[2]]]);
  await again("other");
  expect(await told()).toEqual([]);
  await again("one");
  expect((await told()).map(({ type, common }) => [type, common])).toEqual([["feed.things", { things: ["y"], what: "attributes" }]]);
  const { rows } = await fixture.db.pool.query("select position from device_messages_cursor");
  expect(rows).toEqual([{ position: { seen: "1:1:", tenants: [1], behind: [] } }]);
});

test("deletions that a tenant has missed are told again, once each, but not those of things that are there again or had another address", async () => {
  const { pool } = fixture.db;
  const now = async () => (await pool.query<{ seen: string }>("select pg_current_snapshot()::text as seen")).rows[0]?.seen ?? "";
  const deleted = (...things: [string, string][]) =>
    pool.query("insert into outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 'feed.things-deleted', $1, '[]')", [
      JSON.stringify({ things }),
    ]);
  await pool.query("update device_messages_cursor set holder = 'one', position = '{}'");
  await deleted(["before", "amqp://v/replies"]);
  const seen = await now();
  await deleted(["gone", "amqp://v/replies"], ["x", "amqp://v/replies"], ["other", "amqp://w/replies"]);
  await deleted(["gone", "amqp://v/replies"], ["late", "amqp://v/others"]);
  await pool.query("update target_state set request_attributes = false");
  const before = (await told()).length;
  await run(pool, tellAgain, ["one", "{}", [1], ["v"], [null], [seen]]);
  expect((await told()).slice(before).map(({ type, common }) => [type, common])).toEqual([
    [
      "feed.things-deleted",
      {
        things: [
          ["gone", "amqp://v/replies"],
          ["late", "amqp://v/others"],
        ],
      },
    ],
  ]);
  const after = (await told()).length;
  await run(pool, tellAgain, ["one", "{}", [1], ["v"], [null], [""]]);
  expect(await told()).toHaveLength(after);
});

test("the things of an exchange that was full are told again alone, deletions included, as soon as it and its virtual host take messages", async () => {
  const { pool } = fixture.db;
  const { rows } = await pool.query<{ seen: string }>("select pg_current_snapshot()::text as seen");
  const things = [
    ["gone", "amqp://v/replies"],
    ["elsewhere", "amqp://v/others"],
  ];
  await pool.query(
    "insert into outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 'feed.things-deleted', $1, '[]')",
    [JSON.stringify({ things })],
  );
  await pool.query("update target_state set request_attributes = true");
  // an address with an escape may name the same exchange
  await pool.query(
    "update targets set address = case controller_id when 'y' then 'amqp://v/others' when 'polls' then 'amqp://v/repl%69es' else address end",
  );
  await pool.query("delete from outbox where type <> 'feed.things-deleted'");
  const position = { full: { "1/replies": { seen: rows[0]?.seen ?? "", at: 7 } }, tenants: [1] };
  await pool.query("update device_messages_cursor set holder = 'one', position = $1", [JSON.stringify(position)]);
  const caught = (connected: number[], resting: { tenantId: number; exchange: string }[], from: Position = position) => {
    const tenants = [{ tenantId: 1, tenant: "default", vhost: "v" }];
    return catchUp({ db: fixture.db, now: () => 8 }, { holder: "one", position: from, tenants, connected, resting });
  };
  expect(await caught([1], [{ tenantId: 1, exchange: "replies" }])).toMatchObject({ full: position.full });
  expect(await caught([], [])).toMatchObject({ full: position.full });
  expect(await told()).toHaveLength(1);
  // the tenant as a whole waits on, and its known exchange does not wait for that
  const whole = { ...position, behind: [1], missed: { 1: { seen: rows[0]?.seen ?? "", at: 7 } } };
  const rest = [
    { tenantId: 1, exchange: "others" },
    { tenantId: 1, exchange: "" },
  ];
  expect(await caught([1], rest, whole)).toEqual({ tenants: [1], behind: [1], missed: whole.missed, full: {} });
  expect((await told()).slice(1).toSorted((one, other) => one.type.length - other.type.length)).toMatchObject([
    { type: "feed.things", common: { things: ["x", "polls"], what: "attributes" } },
    { type: "feed.things-deleted", common: { things: [["gone", "amqp://v/replies"]] } },
  ]);
  const kept = (await pool.query<{ position: { full: object } }>("select position from device_messages_cursor")).rows;
  expect(kept).toMatchObject([{ position: { full: {} } }]);
});
