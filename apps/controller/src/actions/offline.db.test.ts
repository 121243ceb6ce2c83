import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenSequences, type CommandsFixture, commandsFixture, contextOf, itemOf, reservedSet } from "../commands.fixture.ts";
import { readAction, readHistory, readOutbox, readTarget, seedTargets } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
  const { pool } = fixture.database.db("management");
  await pool.query(
    `insert into target_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 8, 'none', 'none', 'a', 'a')`,
  );
  await seedTargets(
    fixture,
    Array.from({ length: 20 }, (_, n) => ({ id: n + 1 })),
  );
});
afterAll(() => fixture.close());

const report = (ids: readonly (number | string)[], setId = 100, context = contextOf()) =>
  fixture.actions.assignOffline({ set: reservedSet(setId), controllerIds: ids.map((id) => `d${id}`), initiator: "admin" }, context);
const assign = (id: number, setId: number) =>
  fixture.actions.assignSet({ set: reservedSet(setId), items: [itemOf(`d${id}`)], initiator: "admin" }, contextOf());

test("each target gets a finished action, with its set assigned and installed at once, in one round trip", async () => {
  const before = (await readOutbox(fixture)).length;
  let answer: Awaited<ReturnType<typeof report>> = {};
  expect(
    await fixture.roundTrips.during(async () => {
      answer = await report([1, "-unknown", 2]);
    }),
  ).toBe(1);
  expect(answer).toMatchObject({ alreadyAssigned: 0, actions: [{ controllerId: "d1" }, { controllerId: "d2" }] });
  const id = Number(answer.actions?.[0]?.id);
  expect(await readAction(fixture, id)).toEqual({ status: actionStatus.FINISHED, active: false, revision: 1, lastStatusCode: null });
  expect(await readHistory(fixture, id)).toMatchObject([
    {
      status: actionStatus.FINISHED,
      messages: ["Assignment initiated by user 'admin'", "Update Server: Action reported as offline deployment"],
    },
  ]);
  expect(await readTarget(fixture, 1)).toMatchObject({ assignedSetId: 100, installedSetId: 100, updateStatus: updateStatus.in_sync });
  const rows = (await readOutbox(fixture)).slice(before);
  expect(rows).toMatchObject([{ type: "io.update.action.created.v1" }]);
  expect(rows[0]?.items).toHaveLength(2);
  expect(await brokenSequences(fixture)).toEqual([]);
});

test("targets with the set or an open update are counted and stay; the newest action of the set is the installed one", async () => {
  await assign(3, 101);
  const before = await readTarget(fixture, 3);
  expect(await report([1, 3, 4])).toMatchObject({ alreadyAssigned: 2, actions: [{ controllerId: "d4" }] });
  expect(await readTarget(fixture, 3)).toEqual(before);
  await report([1], 101);
  const { actions } = await report([1], 100);
  const { rows } = await fixture.db.pool.query("select installed_action_id::int as id from target_state where target_id = 1");
  expect(rows).toEqual([{ id: actions?.[0]?.id }]);
});

test("a repeated command gets the first answer; targets out of scope are unknown; types must fit", async () => {
  const context = contextOf();
  const first = await report([5], 100, context);
  expect(await report([5], 100, context)).toEqual(first);
  expect(await report([6], 100, contextOf({ targetTypeScopes: { UPDATE_TARGET: [8] } }))).toEqual({ alreadyAssigned: 0, actions: [] });
  await fixture.db.pool.query("update targets set target_type_id = 8 where id = 7");
  await expect(report([6, 7])).rejects.toMatchObject({ code: "targetTypeIncompatible" });
  expect(await readTarget(fixture, 6)).toMatchObject({ assignedSetId: null });
  expect(await report([])).toEqual({ alreadyAssigned: 0, actions: [] });
});
