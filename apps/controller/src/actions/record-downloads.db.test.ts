import { actionStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assignTo, brokenSequences, type CommandsFixture, commandsFixture, contextOf, newTarget } from "../commands.fixture.ts";
import { readAction, readHistory, readOutbox, seedActions, tenantId } from "../device.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const { CANCELED, CANCELING, DOWNLOAD, FINISHED, RUNNING } = actionStatus;
const at = Date.UTC(2026, 10, 21, 12);

const newAction = async (): Promise<number> => assignTo(fixture, await newTarget(fixture));

const noted = (actionId: number, path = "/file", tenant = tenantId) => ({ tenantId: tenant, actionId, path, at });
const record = (downloads: ReturnType<typeof noted>[], context = contextOf()) => fixture.actions.noteDownloads({ downloads }, context);

test("a batch adds an entry per download, several of one action in order, in one round trip", async () => {
  const [a, b] = [await newAction(), await newAction()];
  const before = (await readOutbox(fixture)).length;
  const roundTrips = await fixture.roundTrips.during(async () => {
    expect(await record([noted(a, "/one"), noted(b, "/two"), noted(a, "/three")])).toEqual({ noted: 3 });
  });
  expect(roundTrips).toBe(1);
  expect(await readAction(fixture, a)).toMatchObject({ status: RUNNING, active: true, revision: 3 });
  expect((await readHistory(fixture, a)).slice(1)).toEqual([
    { revision: 2, status: DOWNLOAD, messages: ["Update Server: Target downloads /one"], code: null, occurredAt: at },
    { revision: 3, status: DOWNLOAD, messages: ["Update Server: Target downloads /three"], code: null, occurredAt: at },
  ]);
  const rows = (await readOutbox(fixture)).slice(before);
  expect(rows).toMatchObject([{ type: "io.update.action.status_reported.v1", common: { tenant: "DEFAULT" } }]);
  expect(rows[0]?.items).toContainEqual([
    ...[a, `d${fixture.next.target - 2}`, 2, RUNNING, RUNNING, true, 1, 1000, null],
    ["Update Server: Target downloads /one"],
    at,
    DOWNLOAD,
  ]);
});

test("actions unknown, long closed or of another tenant are skipped; one being cancelled is open", async () => {
  const target = await newTarget(fixture);
  await seedActions(fixture, [
    { id: 5_000, targetId: target, status: FINISHED, active: false },
    { id: 5_001, targetId: target, status: CANCELING },
  ]);
  await fixture.db.pool.query("update actions set last_modified_at = now() - interval '61 seconds' where id = 5000");
  const a = await newAction();
  expect(await record([noted(5_000), noted(999_999), noted(a, "/x", 2), noted(5_001)])).toEqual({ noted: 1 });
  expect(await readAction(fixture, 5_000)).toMatchObject({ revision: 1 });
  expect(await readAction(fixture, 5_001)).toMatchObject({ status: CANCELING, revision: 2 });
  await fixture.db.pool.query("delete from actions where id in (5000, 5001)"); // seeded without events
});

test("a download that is recorded just after the close is kept, and the close stays the last modification", async () => {
  const a = await newAction();
  const modified = "select last_modified_at as at, last_modified_by as by from actions where id = $1";
  await fixture.actions.cancelAction({ controllerId: `d${fixture.next.target - 1}`, actionId: a, force: false }, contextOf());
  await fixture.actions.cancelAction({ controllerId: `d${fixture.next.target - 1}`, actionId: a, force: true }, contextOf());
  const closed = await readAction(fixture, a);
  expect(closed).toMatchObject({ status: CANCELED, active: false, revision: 3 });
  const before = (await readOutbox(fixture)).length;
  const { rows: by } = await fixture.db.pool.query(modified, [a]);
  expect(await record([noted(a)])).toEqual({ noted: 1 });
  expect(await readAction(fixture, a)).toEqual({ ...closed, revision: 4 });
  expect((await fixture.db.pool.query(modified, [a])).rows).toEqual(by);
  expect((await readHistory(fixture, a)).at(-1)).toMatchObject({ revision: 4, status: DOWNLOAD, occurredAt: at });
  const [row] = (await readOutbox(fixture)).slice(before);
  const messages = ["Update Server: Target downloads /file"];
  expect(row?.items).toEqual([[a, `d${fixture.next.target - 1}`, 4, CANCELED, CANCELED, false, 1, 1000, null, messages, at, DOWNLOAD]]);
  await fixture.db.pool.query("update actions set last_modified_at = now() - interval '61 seconds' where id = $1", [a]);
  expect(await record([noted(a)])).toEqual({ noted: 0 });
});

test("downloads over the quota of entries are dropped", async () => {
  const a = await newAction();
  expect(await record(Array.from({ length: 998 }, (_, n) => noted(a, `/${n}`)))).toEqual({ noted: 998 });
  expect(await record([noted(a, "/last"), noted(a, "/too many"), noted(a, "/too many")])).toEqual({ noted: 1 });
  expect(await record([noted(a)])).toEqual({ noted: 0 });
  expect(await readAction(fixture, a)).toMatchObject({ revision: 1_000 });
});

test("a repeated command adds nothing, even while the first is still running", async () => {
  const a = await newAction();
  const once = contextOf({}, "the same notes");
  expect(await Promise.all([record([noted(a)], once), record([noted(a)], once)])).toEqual([{ noted: 1 }, { noted: 1 }]);
  expect(await record([noted(a)], once)).toEqual({ noted: 1 });
  expect(await readAction(fixture, a)).toMatchObject({ revision: 2 });
});

test("batches with the same actions in opposite order do not deadlock", async () => {
  const actions = await Promise.all(Array.from({ length: 20 }, newAction));
  const batch = actions.map((id) => noted(id));
  await Promise.all([record(batch), record(batch.toReversed()), record(batch), record(batch.toReversed())]);
  expect(await brokenSequences(fixture)).toEqual([]);
  expect(await readAction(fixture, actions[0] ?? 0)).toMatchObject({ revision: 5 });
});
