import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet, setSetting } from "../commands.fixture.ts";

let fixture: CommandsFixture;
let ids: Record<string, number>;

beforeAll(async () => {
  fixture = await commandsFixture();
  const management = fixture.database.db("management").pool;
  await management.query(
    `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 'a', 'a'), (1, 8, 'l', 'm', 'a', 'a')`,
  );
  await management.query("insert into target_type_set_types (tenant_id, target_type_id, set_type_id) values (1, 7, 1), (1, 8, 1)");
  await management.query("insert into target_tags (tenant_id, id, name, created_by, last_modified_by) values (1, 5, 'eu', 'a', 'a')");
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.db.pool.query("delete from targets");
  await fixture.db.pool.query("delete from actions");
  const { targets = [] } = await fixture.targets.createTargets(
    {
      targets: [
        { controllerId: "a", name: "a", targetTypeId: 7 },
        { controllerId: "b", name: "b" },
        { controllerId: "c", name: "c", targetTypeId: 8 },
      ],
    },
    contextOf({}, `new-${Math.random()}`),
  );
  ids = Object.fromEntries(targets.map((one) => [one.controllerId, one.id as number]));
  await fixture.db.pool.query("update target_state set request_attributes = false");
});

const idsOf = (names: string) => [...names].map((name) => ids[name] as number);
const change = (name: string, value: number, names: string, scope?: number[]) =>
  fixture.targets.changeTargetsById(
    { targetIds: [...idsOf(names), 999_999], change: name, value, initiator: "ann" },
    contextOf(scope === undefined ? {} : { targetTypeScopes: { UPDATE_TARGET: scope } }),
  );
const rows = async (sql: string) => (await fixture.db.pool.query(sql)).rows;
const tagged = async () => (await rows("select target_id as id from target_tag_links order by 1")).map(({ id }) => id);
const types = async () =>
  Object.fromEntries(
    (await rows("select controller_id, target_type_id, revision from targets")).map((row) => [
      row.controller_id,
      [row.target_type_id, row.revision],
    ]),
  );

test("a tag is given and taken; a repeated call changes nothing and reaches the same targets", async () => {
  expect(await change("addTag", 5, "ab")).toEqual({ reached: idsOf("ab"), changed: 2 });
  expect(await change("addTag", 5, "abc")).toEqual({ reached: idsOf("abc"), changed: 1 });
  expect(await tagged()).toEqual(idsOf("abc"));
  expect(await change("removeTag", 5, "ac")).toEqual({ reached: idsOf("ac"), changed: 2 });
  expect(await tagged()).toEqual(idsOf("b"));
});

test("a type is given and taken, and a target that has it keeps its revision", async () => {
  expect(await change("setType", 7, "ab")).toEqual({ reached: idsOf("ab"), changed: 1 });
  expect(await types()).toEqual({ a: [7, 1], b: [7, 2], c: [8, 1] });
  expect(await change("setType", 0, "abc")).toEqual({ reached: idsOf("abc"), changed: 3 });
  expect(await types()).toEqual({ a: [null, 2], b: [null, 3], c: [null, 2] });
  expect(await rows("select distinct last_modified_by as by from targets")).toEqual([{ by: "ann" }]);
});

test("attributes are asked for, and asking again changes nothing", async () => {
  expect((await change("requestAttributes", 0, "ab")).changed).toBe(2);
  expect((await change("requestAttributes", 0, "ab")).changed).toBe(0);
  expect(await rows("select target_id as id from target_state where request_attributes order by 1")).toEqual(
    idsOf("ab").map((id) => ({ id })),
  );
});

test("a restriction to target types holds; what does not exist is named", async () => {
  expect(await change("addTag", 5, "abc", [7])).toEqual({ reached: idsOf("a"), changed: 1 });
  expect(await change("addTag", 5, "abc", [])).toEqual({ reached: [], changed: 0 });
  await expect(change("addTag", 6, "a")).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(change("setType", 9, "a")).rejects.toMatchObject({ code: "entityNotFound" });
  await expect(change("explode", 0, "a")).rejects.toMatchObject({ code: "constraintViolation" });
  expect(await types()).toEqual({ a: [7, 2], b: [null, 1], c: [8, 1] });
});

test("a change tells an event of each target that was not so before, with its next revision; a repeated call tells none", async () => {
  const [last] = await rows("select coalesce(max(id), 0)::int as id from outbox");
  await change("addTag", 5, "ab");
  await change("addTag", 5, "abc");
  await change("removeTag", 5, "b");
  await change("setType", 7, "abc");
  await change("requestAttributes", 0, "c");
  await change("requestAttributes", 0, "c");
  const told = await rows(
    `select i.item ->> 'subject' as subject, (i.item ->> 'sequence')::int as sequence,
            i.item -> 'data' -> 'changed' ->> 0 as changed, i.item -> 'data' ->> 'initiatedBy' as by
       from outbox o cross join json_array_elements(o.items) with ordinality i (item, n)
      where o.id > ${last?.id} and o.type = 'io.update.target.changed.v1' order by o.id, i.n`,
  );
  const event = (name: string, sequence: number, changed: string) => ({
    subject: `targets/${name}`,
    sequence,
    changed,
    by: "ann",
  });
  expect(told).toEqual([
    event("a", 2, "tags"),
    event("b", 2, "tags"),
    event("c", 2, "tags"),
    event("b", 3, "tags"),
    event("b", 4, "targetType"),
    event("c", 3, "targetType"),
    event("c", 4, "requestAttributes"),
  ]);
  expect(await types()).toEqual({ a: [7, 2], b: [7, 4], c: [7, 4] });
});

test("a change makes filters look again, once; a call that changes nothing does not", async () => {
  const notified = async () => (await rows("select count(*)::int as n from fleet_changes_v1"))[0]?.n;
  const before = await notified();
  await change("addTag", 5, "abc");
  await change("addTag", 5, "abc");
  expect((await notified()) - before).toBe(1);
});

test("open actions are asked to end, once, and only those within reach", async () => {
  const items = [..."abc"].map((name) => itemOf(name));
  await fixture.actions.assignSet({ set: reservedSet(), items, initiator: "ann" }, contextOf({}));
  expect(await change("cancelActions", 0, "ab", [7])).toEqual({ reached: idsOf("a"), changed: 1 });
  expect(await change("cancelActions", 0, "ab")).toEqual({ reached: idsOf("ab"), changed: 1 });
  expect(await change("cancelActions", 0, "ab")).toEqual({ reached: idsOf("ab"), changed: 0 });
  expect(await rows("select controller_id as id, status, active, last_modified_by as by from actions order by 1")).toEqual([
    { id: "a", status: 5, active: true, by: "ann" },
    { id: "b", status: 5, active: true, by: "ann" },
    { id: "c", status: 3, active: true, by: "ann" },
  ]);
  const entries = "select count(*)::int as n from action_history where messages = array['Update Server: manual cancelation requested']";
  expect(await rows(entries)).toEqual([{ n: 2 }]);
});

test("targets confirm by themselves from now on, those that wait for it too; who does already keeps its remark", async () => {
  await setSetting(fixture, "user.confirmation.flow.enabled", true);
  const items = [..."ab"].map((name) => itemOf(name));
  await fixture.actions.assignSet({ set: reservedSet(), items, initiator: "ann" }, contextOf({}));
  expect(await rows("select distinct status from actions")).toEqual([{ status: 11 }]);
  await fixture.targets.activateAutoConfirm({ controllerId: "c", remark: "mine" }, contextOf({}));
  expect(await change("activateAutoConfirm", 0, "ac", [7, 8])).toEqual({ reached: idsOf("ac"), changed: 1 });
  expect(await change("activateAutoConfirm", 0, "ac")).toEqual({ reached: idsOf("ac"), changed: 0 });
  expect(await rows("select controller_id as id, status from actions order by 1")).toEqual([
    { id: "a", status: 3 },
    { id: "b", status: 11 },
  ]);
  expect(await rows("select target_id as id, remark, created_by as by from auto_confirmations order by 1")).toEqual([
    { id: ids["a"], remark: null, by: "ann" },
    { id: ids["c"], remark: "mine", by: "admin" },
  ]);
  expect(await rows("select controller_id as id, revision from targets where controller_id = 'a'")).toEqual([{ id: "a", revision: 2 }]);
});
