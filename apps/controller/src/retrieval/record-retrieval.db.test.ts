import { actionStatus, tally } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type DeviceFixture,
  deviceFixture,
  readAction,
  readHistory,
  readOutbox,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { resources } from "../domain/visibility.ts";
import { createRetrievalRecorder, type StorableRetrieval } from "./record-retrieval.ts";

let fixture: DeviceFixture;
let first = 100;
/** Four fresh targets `d<id>`, each with the open action `id + 10000`. */
let ids: [number, number, number, number];

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  ids = [first, first + 1, first + 2, first + 3];
  first += 4;
  await seedTargets(
    fixture,
    ids.map((id) => ({ id })),
  );
  await seedActions(
    fixture,
    ids.map((id) => ({ id: id + 10_000, targetId: id })),
  );
});

const retrievalOf = (id: number, change: Partial<StorableRetrieval> = {}): StorableRetrieval => ({
  tenantId: 1,
  controllerId: `d${id}`,
  actionId: id + 10_000,
  resource: resources.indexOf("deployment"),
  history: 0,
  maxEntries: 1_000,
  tenant: "DEFAULT",
  traceparent: null,
  ...change,
});

const entriesOf = async (id: number) => (await readHistory(fixture, id + 10_000)).map((entry) => entry.status).slice(1);

test("retrievals that arrive together are one round trip, and each has its own answer", async () => {
  const record = createRetrievalRecorder(fixture.db.pool);
  const [a, b, c, d] = ids;
  let rows: Awaited<ReturnType<typeof record>>[] = [];
  const roundTrips = await fixture.roundTrips.during(async () => {
    rows = await Promise.all([
      record(retrievalOf(a)),
      record(retrievalOf(a, { history: 5 })),
      record(retrievalOf(b, { resource: resources.indexOf("cancel") })),
      record(retrievalOf(c, { actionId: d + 10_000 })),
      record(retrievalOf(d, { tenantId: 2 })),
    ]);
  });
  expect(roundTrips).toBe(1);
  expect(rows.map((row) => row?.outcome)).toEqual(["ok", "ok", "stateNotFound", "foreignAction", "targetNotFound"]);
  expect(rows[0]).toMatchObject({ setId: 100, setRevision: 1, status: actionStatus.RETRIEVED, messages: null });
  expect(rows[1]?.messages).toEqual(["Assignment initiated by user 'admin'"]);
  expect(await entriesOf(a)).toEqual([actionStatus.RETRIEVED]);
  expect(await entriesOf(b)).toEqual([]);
  expect(await entriesOf(d)).toEqual([]);
});

test("the entry of a retrieval is written once, whoever asks at the same moment and afterwards", async () => {
  const record = createRetrievalRecorder(fixture.db.pool);
  const [a, b] = ids;
  const asked = () => Promise.all([a, a, a, b].map((id) => record(retrievalOf(id))));
  expect((await asked()).map((row) => row?.status)).toEqual([a, a, a, b].map(() => actionStatus.RETRIEVED));
  expect((await asked()).map((row) => row?.outcome)).toEqual(["ok", "ok", "ok", "ok"]);
  for (const id of [a, b]) expect(await entriesOf(id)).toEqual([actionStatus.RETRIEVED]);
});

test("the end of a silence is told of its own action alone", async () => {
  const record = createRetrievalRecorder(fixture.db.pool);
  const [a, b, c] = ids;
  await fixture.db.pool.query("update actions set tally = $2 where tenant_id = 1 and id = $1", [b + 10_000, tally.silent]);
  await Promise.all([a, b, c].map((id) => record(retrievalOf(id))));
  const [row] = (await readOutbox(fixture)).slice(-1);
  expect(row?.items.map((item) => (item as unknown[]).slice(12))).toEqual([[], [{ silent: false, attempt: 1 }], []]);
});

test("a retrieval waits for the lock of its own target, and never for that of another", async () => {
  const record = createRetrievalRecorder(fixture.db.pool);
  const [locked, ...others] = ids;
  const holder = await fixture.database.db("controller").pool.connect();
  await holder.query("begin");
  await holder.query("select from target_state where tenant_id = 1 and target_id = $1 for update", [locked]);
  let answered = false;
  const late = record(retrievalOf(locked)).finally(() => {
    answered = true;
  });
  const rows = await Promise.all(others.map((id) => record(retrievalOf(id))));
  expect(rows.map((row) => row?.outcome)).toEqual(["ok", "ok", "ok"]);
  expect(answered).toBe(false);
  await holder.query("commit");
  holder.release();
  expect((await late)?.outcome).toBe("ok");
  expect(await readAction(fixture, locked + 10_000)).toMatchObject({ status: actionStatus.RETRIEVED, revision: 2 });
});

test("a retrieval that PostgreSQL refuses fails alone", async () => {
  const record = createRetrievalRecorder(fixture.db.pool);
  const [a, b] = ids;
  const answers = await Promise.allSettled([record(retrievalOf(a)), record(retrievalOf(b, { tenant: "\u0000" }))]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await entriesOf(a)).toEqual([actionStatus.RETRIEVED]);
});
