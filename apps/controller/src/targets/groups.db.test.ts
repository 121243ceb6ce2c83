import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  await fixture.database
    .db("management")
    .pool.query(`insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 7, 'k', 'n', 'a', 'a')`);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.db.pool.query("delete from targets");
});

const create = (targets: { controllerId: string; group?: string; targetTypeId?: number }[], commandId?: string) =>
  fixture.targets.createTargets({ targets: targets.map((one) => ({ name: one.controllerId, ...one })) }, contextOf({}, commandId));

const groups = async (): Promise<Record<string, string | null>> => {
  const { rows } = await fixture.db.pool.query("select controller_id, target_group from targets_v1 where tenant_id = 1 order by 1");
  return Object.fromEntries(rows.map((row) => [row.controller_id, row.target_group]));
};
const revisions = async (): Promise<number[]> => {
  const { rows } = await fixture.db.pool.query("select revision from targets where tenant_id = 1 order by controller_id");
  return rows.map((row) => row.revision);
};
const change = (request: { group?: string; controllerIds?: string[]; targetIds?: number[] }, scope?: number[]) =>
  fixture.targets.changeGroup(
    { controllerIds: [], targetIds: [], ...request },
    contextOf({ subject: "ann", ...(scope === undefined ? {} : { targetTypeScopes: { UPDATE_TARGET: scope } }) }),
  );

test("targets are created with their group; a repeated command does not restore it", async () => {
  const made = [{ controllerId: "a", group: "Europe/East" }, { controllerId: "b" }, { controllerId: "c", group: "" }];
  const first = await create(made, "once");
  expect(await groups()).toEqual({ a: "Europe/East", b: null, c: null });
  await change({ group: "Asia", controllerIds: ["a"] });
  expect(await create(made, "once")).toEqual(first);
  expect(await groups()).toEqual({ a: "Asia", b: null, c: null });
});

test("an update sets the group, leaves it, or removes it", async () => {
  await create([{ controllerId: "a", group: "x" }]);
  const update = async (members: { name?: string; group?: string }) => {
    await fixture.targets.updateTarget({ controllerId: "a", ...members, ifRevisions: [] }, contextOf());
    return (await groups())["a"];
  };
  expect([await update({ name: "other" }), await update({ group: "y/z" }), await update({ group: "" })]).toEqual(["x", "y/z", null]);
});

test("many targets change at once, by controllerId or by id; unknown or unchanged ones are skipped and keep their revision", async () => {
  const { targets } = await create([
    { controllerId: "a", group: "old" },
    { controllerId: "b" },
    { controllerId: "c" },
    { controllerId: "d" },
  ]);
  const idOf = (controllerId: string) => targets?.find((one) => one.controllerId === controllerId)?.id as number;
  expect(await change({ group: "new", controllerIds: ["a", "nobody", "a"], targetIds: [idOf("b"), 999_999] })).toEqual({ changed: 2 });
  expect(await groups()).toEqual({ a: "new", b: "new", c: null, d: null });
  expect(await revisions()).toEqual([2, 2, 1, 1]);
  expect(await change({ group: "new", controllerIds: ["a", "b", "c"] })).toEqual({ changed: 1 });
  expect(await revisions()).toEqual([2, 2, 2, 1]);
  const { rows } = await fixture.db.pool.query("select last_modified_by as by from targets where controller_id = 'c'");
  expect(rows).toEqual([{ by: "ann" }]);
  expect(await change({ controllerIds: ["a", "d"] })).toEqual({ changed: 1 });
  expect(await groups()).toEqual({ a: null, b: "new", c: "new", d: null });
});

test("a change notifies target filters once; with the events of its targets; a call that changes nothing does not", async () => {
  await create([{ controllerId: "a" }, { controllerId: "b" }]);
  const notifications = async () => {
    const { rows } = await fixture.db.pool.query("select count(*)::int as n from outbox where type = 'io.update.target.changed.v1'");
    return rows[0].n as number;
  };
  const before = await notifications();
  await change({ group: "g", controllerIds: ["a", "b"] });
  expect(await notifications()).toBe(before + 1);
  await change({ group: "g", controllerIds: ["a", "b", "nobody"] });
  expect(await notifications()).toBe(before + 1);
});

test("targets of other types than the caller's, and those of another tenant, stay as they are", async () => {
  await create([{ controllerId: "typed", targetTypeId: 7 }, { controllerId: "plain" }]);
  expect(await change({ group: "g", controllerIds: ["typed", "plain"] }, [7])).toEqual({ changed: 1 });
  expect(await groups()).toEqual({ plain: null, typed: "g" });
  expect(await change({ controllerIds: ["typed"] }, [])).toEqual({ changed: 0 });
  const theirs = contextOf({ tenantId: 2, tenant: "OTHER" });
  expect(await fixture.targets.changeGroup({ group: "h", controllerIds: ["typed", "plain"], targetIds: [] }, theirs)).toEqual({
    changed: 0,
  });
  expect(await groups()).toEqual({ plain: null, typed: "g" });
});

test("a change of many is one round trip and one statement", async () => {
  await create(Array.from({ length: 500 }, (_, n) => ({ controllerId: `m-${n}` })));
  const controllerIds = Array.from({ length: 500 }, (_, n) => `m-${n}`);
  const roundTrips = await fixture.roundTrips.during(async () => {
    expect(await change({ group: "many", controllerIds })).toEqual({ changed: 500 });
  });
  expect(roundTrips).toBe(1);
});
