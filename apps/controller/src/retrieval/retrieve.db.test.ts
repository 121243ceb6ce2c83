import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type DeviceFixture,
  deviceFixture,
  deviceNamed,
  readAction,
  readHistory,
  readOutbox,
  reportDeps,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { type Resource, resources, visibility } from "../domain/visibility.ts";
import { report } from "../feedback/report.ts";
import { retrieve } from "./retrieve.ts";

let fixture: DeviceFixture;
let next = 100;
let n: number;
let actionId: number;

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  n = next++;
  actionId = n + 10_000;
  await seedTargets(fixture, [{ id: n }]);
});

const read = (resource: Resource = "deployment", history = 0) =>
  retrieve(fixture, { device: deviceNamed(`d${n}`), resource, actionId, history });

const say = (details: string[]) =>
  report(reportDeps(fixture), {
    device: deviceNamed(`d${n}`),
    channel: "deployment",
    actionId,
    feedback: { execution: "proceeding", finished: "none", code: undefined, details, timestamp: undefined },
  });

test("each resource exists in its states and in no other (contract device.md §4.2)", async () => {
  const cells = resources.flatMap((resource) =>
    Object.entries(actionStatus).flatMap(([name, status]) => [true, false].map((active) => ({ resource, name, status, active }))),
  );
  let id = 20_000;
  for (const { resource, name, status, active } of cells) {
    actionId = id++;
    await seedActions(fixture, [{ id: actionId, targetId: n, status, active }]);
    const { open, closed } = visibility[resource];
    const visible = (active ? open : closed).includes(name as never);
    const found = await read(resource).then(
      () => true,
      (error) => {
        expect(error).toMatchObject({ code: "stateNotFound" });
        return false;
      },
    );
    expect(found, `${resource} of ${name}, ${active ? "active" : "closed"}`).toBe(visible);
    if (!active) expect(await readAction(fixture, actionId)).toMatchObject({ status, revision: 1 });
  }
});

test("three retrievals leave one entry and are one round trip each", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const before = (await readOutbox(fixture)).length;
  for (let i = 0; i < 3; i++) expect(await fixture.roundTrips.during(() => read())).toBe(1);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.RETRIEVED, active: true, revision: 2 });
  expect((await readHistory(fixture, actionId))[1]).toMatchObject({
    status: actionStatus.RETRIEVED,
    messages: ["Update Server: Target retrieved update action and should start now the download."],
  });
  expect((await readOutbox(fixture)).slice(before).map((row) => row.items)).toEqual([
    [
      [
        actionId,
        `d${n}`,
        2,
        actionStatus.RUNNING,
        actionStatus.RETRIEVED,
        true,
        1,
        1000,
        null,
        expect.any(Array),
        expect.any(Number),
        actionStatus.RETRIEVED,
      ],
    ],
  ]);
});

test("the first retrieval reads no history", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  const scans = async () => {
    const client = await fixture.db.pool.connect();
    const soFar = async (): Promise<number> => {
      const { rows } = await client.query(
        `select sum(t.seq_scan + t.idx_scan)::int as n from pg_stat_xact_user_tables t where t.relname like 'action\\_history%'`,
      );
      return rows[0].n;
    };
    try {
      await client.query("begin");
      const before = await soFar();
      await client.query("select outcome from retrieve_action(1, $1, $2, 0::smallint, 0, 1000, 'DEFAULT', null, true)", [
        `d${n}`,
        actionId,
      ]);
      const after = await soFar();
      await client.query("commit");
      return after - before;
    } finally {
      client.release();
    }
  };
  expect(await scans()).toBe(0);
  expect(await scans()).toBeGreaterThan(0);
  expect(await readHistory(fixture, actionId)).toHaveLength(2);
});

test("many concurrent retrievals leave one entry", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await Promise.all(Array.from({ length: 12 }, () => read()));
  expect(await readHistory(fixture, actionId)).toHaveLength(2);
});

test("after another entry a retrieval is recorded again", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await read();
  await say(["halfway"]);
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.RUNNING });
  await read();
  await read();
  expect((await readHistory(fixture, actionId)).map((e) => e.status)).toEqual([
    actionStatus.RUNNING,
    actionStatus.RETRIEVED,
    actionStatus.RUNNING,
    actionStatus.RETRIEVED,
  ]);
});

test("a full history prevents the entry, not the retrieval", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, revision: 1_000 }]);
  expect(await read()).toMatchObject({ setId: 100, setRevision: 1 });
  expect(await readAction(fixture, actionId)).toMatchObject({ revision: 1_000 });
});

test("the retrieval of a cancellation is recorded once too, and it stays a cancellation", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n, status: actionStatus.CANCELING }]);
  await read("cancel");
  await read("cancel");
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.CANCELING, revision: 2 });
  expect((await readHistory(fixture, actionId))[1]).toMatchObject({
    status: actionStatus.RETRIEVED,
    messages: ["Update Server: Target retrieved cancel action and should start now the cancellation."],
  });
});

test("messages come newest first, without the server's own, as many as requested", async () => {
  await seedActions(fixture, [{ id: actionId, targetId: n }]);
  await read();
  await say(["one"]);
  await say(["two", "three"]);
  expect((await read("deployment", 2)).messages).toEqual(["three", "two"]);
  expect((await read("deployment", 0)).messages).toBeNull();
  expect((await read("deployment", -1)).messages).toEqual(["three", "two", "one", "Assignment initiated by user 'admin'"]);
  for (let i = 0; i < 3; i++) await say(Array.from({ length: 50 }, (_, j) => `${i}/${j}`));
  expect((await read("deployment", 5_000)).messages).toHaveLength(100);
});

test("unknown targets, unknown actions and another target's action are not found", async () => {
  await expect(read()).rejects.toMatchObject({
    code: "entityNotFound",
    message: `Action with given identifier {${actionId}} does not exist.`,
  });
  await seedTargets(fixture, [{ id: next }]);
  await seedActions(fixture, [{ id: actionId, targetId: next++ }]);
  await expect(read()).rejects.toMatchObject({ code: "entityNotFound", message: `Not a valid action (${actionId}) for target: d${n}` });
  n = 99_999;
  await expect(read()).rejects.toMatchObject({ code: "entityNotFound", message: "Target with given identifier {d99999} does not exist." });
});
