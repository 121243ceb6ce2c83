import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DeviceFixture, deviceFixture, readTarget, seedActions, seedTargets } from "../device.fixture.ts";
import { createPollReader } from "./poll-reader.ts";

let fixture: DeviceFixture;

beforeAll(async () => {
  fixture = await deviceFixture();
});
afterAll(() => fixture.close());

const key = (controllerId: string, address: string | null = null) => ({ tenantId: 1, controllerId, address });

test("concurrent polls share a statement, and each gets its own answer", async () => {
  const ids = Array.from({ length: 100 }, (_, i) => i + 1);
  await seedTargets(
    fixture,
    ids.map((id) => ({ id })),
  );
  await seedActions(
    fixture,
    ids.filter((id) => id % 3 === 0).map((id) => ({ id: 1_000 + id, targetId: id, status: actionStatus.RUNNING })),
  );
  const read = createPollReader(fixture.db.pool);
  let rows: Awaited<ReturnType<typeof read>>[] = [];
  const roundTrips = await fixture.roundTrips.during(async () => {
    rows = await Promise.all([...ids.map((id) => read(key(`d${id}`))), read(key("nobody"))]);
  });
  expect(rows.map((row) => row?.targetId)).toEqual([...ids, undefined]);
  expect(rows.map((row) => row?.actionId ?? null)).toEqual([...ids.map((id) => (id % 3 === 0 ? 1_000 + id : null)), null]);
  expect(roundTrips).toBe(2); // One statement reads at most 64 of them.
});

test("a tenant never gets the answer of another that polls at the same moment", async () => {
  await seedTargets(fixture, [{ id: 201 }]);
  const read = createPollReader(fixture.db.pool);
  const rows = await Promise.all([1, 2, 1, 2].map((tenantId) => read({ tenantId, controllerId: "d201", address: null })));
  expect(rows.map((row) => row?.targetId)).toEqual([201, undefined, 201, undefined]);
});

test("a poll still makes its changes when it shares a statement", async () => {
  const ids = [301, 302, 303, 304];
  await seedTargets(
    fixture,
    ids.map((id) => ({ id, updateStatus: updateStatus.unknown })),
  );
  const read = createPollReader(fixture.db.pool);
  await Promise.all(ids.map((id) => read(key(`d${id}`, `http://10.0.3.${id - 300}`))));
  for (const id of ids) expect(await readTarget(fixture, id)).toMatchObject({ updateStatus: updateStatus.registered });
  const { rows } = await fixture.db.pool.query("select address from targets where tenant_id = 1 and id between 301 and 304 order by id");
  expect(rows.map((row) => row.address)).toEqual([1, 2, 3, 4].map((n) => `http://10.0.3.${n}`));
});

test("a poll does not wait for a lock of its target", async () => {
  await seedTargets(fixture, [{ id: 401, updateStatus: updateStatus.unknown }, { id: 402 }]);
  const holder = await fixture.db.pool.connect();
  await holder.query("begin");
  await holder.query("select from target_state where tenant_id = 1 and target_id = 401 for update");
  await holder.query("select from targets where tenant_id = 1 and id = 401 for update");
  const read = createPollReader(fixture.db.pool);
  const rows = await Promise.all([read(key("d401", "http://10.0.4.1")), read(key("d402")), read(key("d401", "http://10.0.4.1"))]);
  expect(rows.map((row) => row?.targetId)).toEqual([401, 402, 401]);
  await holder.query("rollback");
  holder.release();
  expect(await readTarget(fixture, 401)).toMatchObject({ updateStatus: updateStatus.unknown });
  await read(key("d401", "http://10.0.4.1"));
  expect(await readTarget(fixture, 401)).toMatchObject({ updateStatus: updateStatus.registered });
});

test("an error reaches every poll that shared the statement, and the next ones are read again", async () => {
  await seedTargets(fixture, [{ id: 501 }]);
  let broken = true;
  const pool = fixture.db.pool;
  const read = createPollReader({
    query: ((config: Parameters<typeof pool.query>[0]) =>
      broken ? Promise.reject(new Error("no database")) : pool.query(config as never)) as never,
  });
  const polls = await Promise.allSettled([1, 2, 3].map(() => read(key("d501"))));
  expect(polls.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  broken = false;
  expect((await read(key("d501")))?.targetId).toBe(501);
});

test("a slow statement does not delay the polls after it", async () => {
  await seedTargets(fixture, [{ id: 601 }, { id: 602 }]);
  const pool = fixture.db.pool;
  let time = 0;
  const first = Promise.withResolvers<void>();
  let statements = 0;
  const read = createPollReader(
    {
      query: (async (config: Parameters<typeof pool.query>[0]) => {
        statements += 1;
        if (statements === 1) await first.promise;
        return pool.query(config as never);
      }) as never,
    },
    () => time,
  );
  const slow = read(key("d601"));
  await vi.waitFor(() => expect(statements).toBe(1), 10_000);
  time = 100;
  expect((await read(key("d602")))?.targetId).toBe(602);
  first.resolve();
  expect((await slow)?.targetId).toBe(601);
});

test("polls do not pile up while the database answers nothing", async () => {
  let time = 0;
  const read = createPollReader({ query: () => new Promise(() => undefined) } as never, () => time);
  const first = [1, 2, 3, 4].map(() => {
    const poll = read(key("d1"));
    time += 100;
    return poll;
  });
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = read(key("d1"));
  const refused = expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  time += 20_000;
  void read(key("d1"));
  await new Promise((resolve) => setImmediate(resolve));
  void read(key("d1"));
  await refused;
  expect(first).toHaveLength(4);
});
