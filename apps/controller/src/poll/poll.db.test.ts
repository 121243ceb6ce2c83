import { actionStatus, updateStatus } from "@harrier/contracts";
import { digest } from "@harrier/db";
import { createJob } from "@harrier/jobs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture, deviceNamed, readOutbox, readTarget, seedActions, seedTargets } from "../device.fixture.ts";
import { jobs } from "../jobs.ts";
import { withDefaults } from "../settings/defaults.ts";
import { createLastPolls, type LastPolls } from "./last-polls.ts";
import { type PollDeps, type PollRequest, poll } from "./poll.ts";
import { createPollReader } from "./poll-reader.ts";

let fixture: DeviceFixture;
let lastPolls: LastPolls;
let deps: PollDeps;
const recorded: unknown[] = [];
let now = Date.UTC(2026, 10, 21, 12);

beforeAll(async () => {
  fixture = await deviceFixture();
  lastPolls = createLastPolls({ pool: fixture.db.pool });
  const { db, ids, secrets, limits } = fixture;
  deps = {
    db,
    readPoll: createPollReader(db.pool),
    ids,
    secrets,
    limits,
    lastPolls,
    settings: { get: () => withDefaults([]) },
    log: { info: () => undefined },
    now: () => now,
  };
});
afterAll(() => fixture.close());
beforeEach(() => {
  recorded.length = 0;
});

const request = (controllerId: string, change: Partial<PollRequest> = {}): PollRequest => ({
  device: deviceNamed(controllerId),
  address: null,
  mayRegister: true,
  ...change,
});

async function lastPoll(id: number): Promise<number | undefined> {
  const { rows } = await fixture.db.pool.query(
    "select (extract(epoch from last_poll_at) * 1000)::bigint as at from target_polls where tenant_id = 1 and target_id = $1",
    [id],
  );
  return rows[0]?.at;
}

test("a poll is one round trip in every state of the target", async () => {
  await seedTargets(fixture, [
    { id: 1 },
    { id: 2, updateStatus: updateStatus.unknown, requestAttributes: true },
    { id: 3, installedSetId: 100, installedActionId: 31 },
    ...[4, 5, 6, 7].map((id) => ({ id })),
  ]);
  await seedActions(fixture, [
    { id: 31, targetId: 3, status: actionStatus.FINISHED, active: false },
    { id: 32, targetId: 3 },
    { id: 41, targetId: 4, status: actionStatus.CANCELING },
    { id: 51, targetId: 5, status: actionStatus.WAIT_FOR_CONFIRMATION },
    { id: 61, targetId: 6, status: actionStatus.SCHEDULED, active: false },
    { id: 71, targetId: 7, weight: 10 },
    { id: 72, targetId: 7, weight: 900 },
    { id: 73, targetId: 7, weight: 900 },
  ]);
  const seen: Record<string, string[]> = {};
  for (const id of [1, 2, 3, 4, 5, 6, 7]) {
    const roundTrips = await fixture.roundTrips.during(async () => {
      const view = await poll(deps, request(`d${id}`, { address: "http://10.0.0.1" }));
      seen[id] = Object.values(view._links ?? {}).map(
        (link) => link?.href.replace("http://ota.example/default/controller/v1", "").split("?")[0] ?? "",
      );
      expect(view.config).toEqual({ polling: { sleep: "00:05:00" } });
      if (id === 1) expect(view).not.toHaveProperty("_links");
    });
    expect(roundTrips, `target ${id}`).toBe(1);
  }
  expect(seen).toEqual({
    1: [],
    2: ["/d2/configData"],
    3: ["/d3/deploymentBase/32", "/d3/installedBase/31"],
    4: ["/d4/cancelAction/41"],
    5: ["/d5/confirmationBase/51"],
    6: [],
    7: ["/d7/deploymentBase/72"], // The action with the highest weight is offered, of equal ones the oldest.
  });
  expect(await readTarget(fixture, 2)).toMatchObject({ updateStatus: updateStatus.registered });
});

test("a poll stores the address it came from and does not change the audit members", async () => {
  await seedTargets(fixture, [{ id: 10 }]);
  const read = async () =>
    (
      await fixture.db.pool.query(
        "select address, revision, last_modified_by, last_modified_at from targets where tenant_id = 1 and id = 10",
      )
    ).rows[0];
  const before = await read();
  await poll(deps, request("d10"));
  expect(await read()).toEqual(before);
  await poll(deps, request("d10", { address: "http://10.0.0.2" }));
  await poll(deps, request("d10", { address: "http://10.0.0.2" }));
  expect(await read()).toEqual({ ...before, address: "http://10.0.0.2", revision: 2 });
});

test("a poll that takes over an address for messages is logged, once", async () => {
  await seedTargets(fixture, [{ id: 9000 }]);
  await fixture.db.pool.query("update targets set address = 'amqp://v/replies' where tenant_id = 1 and id = 9000");
  const logged: object[] = [];
  const log = { info: (fields: object) => void logged.push(fields) };
  for (const address of [null, "http://10.0.0.4", "http://10.0.0.4", "http://10.0.0.5"])
    await poll({ ...deps, log }, request("d9000", { address }));
  expect(logged).toMatchObject([{ controllerId: "d9000", before: "amqp://v/replies", address: "http://10.0.0.4" }]);
});

test("the first poll registers the device", async () => {
  const controllerId = `new ${"ä".repeat(200)}`;
  const view = await poll(deps, request(controllerId, { address: "http://10.0.0.3" }));
  expect(Object.keys(view._links ?? {})).toEqual(["configData"]);
  const { rows } = await fixture.db.pool.query(
    `select id, name, description, address, created_by as "createdBy", last_modified_by as "lastModifiedBy", token_digest as digest, token_cipher as cipher
       from targets where tenant_id = 1 and controller_id = $1`,
    [controllerId],
  );
  expect(rows[0]).toMatchObject({
    name: controllerId.slice(0, 128),
    description: `Plug and Play target: ${controllerId}`,
    address: "http://10.0.0.3",
    createdBy: "CONTROLLER_PLUG_AND_PLAY",
    lastModifiedBy: "CONTROLLER_PLUG_AND_PLAY",
  });
  const token = fixture.secrets.open(rows[0].cipher);
  expect(token).toMatch(/^[0-9a-f]{32}$/);
  expect(rows[0].digest).toEqual(digest(token));
  expect(await readTarget(fixture, rows[0].id)).toEqual({
    updateStatus: updateStatus.registered,
    assignedSetId: null,
    installedSetId: null,
    installedActionId: null,
    requestAttributes: true,
  });
  const [event] = (await readOutbox(fixture)).slice(-1);
  expect(event).toMatchObject({
    topic: "target-events",
    type: "io.update.target.created.v1",
    common: { tenant: "DEFAULT" },
    items: [{ subject: `targets/${controllerId}`, sequence: 1, data: { controllerId } }],
  });
  expect(JSON.stringify(event)).not.toContain(token);
});

test("concurrent first polls make one target and one event, and all are answered", async () => {
  const before = (await readOutbox(fixture)).length;
  const views = await Promise.all(Array.from({ length: 8 }, () => poll(deps, request("racer"))));
  for (const view of views) expect(Object.keys(view._links ?? {})).toEqual(["configData"]);
  const { rows } = await fixture.db.pool.query("select count(*) as n from targets where tenant_id = 1 and controller_id = 'racer'");
  expect(rows).toEqual([{ n: 1 }]);
  expect((await readOutbox(fixture)).length).toBe(before + 1);
});

test("a target token does not register a target: its target was deleted", async () => {
  await expect(poll(deps, request("gone", { mayRegister: false }))).rejects.toMatchObject({ code: "unauthenticated" });
  const { rows } = await fixture.db.pool.query("select 1 from targets where controller_id = 'gone'");
  expect(rows).toEqual([]);
});

test("tenants do not see each other's targets", async () => {
  await seedTargets(fixture, [{ id: 20, controllerId: "shared" }]);
  const other = { ...deviceNamed("shared"), tenantId: 2, tenant: "OTHER" };
  await poll(deps, { ...request("shared"), device: other });
  const { rows } = await fixture.db.pool.query("select tenant_id, id from targets where controller_id = 'shared' order by 1");
  expect(rows).toHaveLength(2);
});

test("last polls of many targets are written in one statement, the latest one wins", async () => {
  await seedTargets(fixture, [{ id: 40 }, { id: 41 }]);
  now = 1_000_000;
  await poll(deps, request("d41"));
  await poll(deps, request("d40"));
  now = 1_002_000;
  await poll(deps, request("d40"));
  expect(await lastPoll(40)).toBeUndefined();
  expect(await fixture.roundTrips.during(() => lastPolls.flush())).toBe(1);
  expect(await lastPoll(40)).toBe(1_002_000);
  expect(await lastPoll(41)).toBe(1_000_000);
  lastPolls.record(1, 40, 900_000);
  await lastPolls.flush();
  expect(await lastPoll(40)).toBe(1_002_000);
  expect(await fixture.roundTrips.during(() => lastPolls.flush())).toBe(0);
});

test("a device that was deleted after its poll does not delay the others", async () => {
  await seedTargets(fixture, [{ id: 50 }]);
  lastPolls.record(1, 50, 5_000);
  lastPolls.record(1, 999_999, 5_000);
  lastPolls.record(7, 50, 5_000);
  await expect(lastPolls.flush()).resolves.toBeUndefined();
  expect(await lastPoll(50)).toBe(5_000);
});

test("a poll that changes the target stores its time at once, the following polls do not", async () => {
  const began = Date.now() - 1_000;
  const ids = { next: async () => 500, release: () => {} };
  await poll({ ...deps, ids }, request("newcomer", { address: "http://10.0.0.4" }));
  expect(await lastPoll(500)).toBeGreaterThan(began);
  await seedTargets(fixture, [{ id: 501, updateStatus: updateStatus.unknown }, { id: 502 }, { id: 503 }]);
  expect(await fixture.roundTrips.during(() => poll(deps, request("d501")))).toBe(1);
  expect(await lastPoll(501)).toBeGreaterThan(began);
  expect(await fixture.roundTrips.during(() => poll(deps, request("d502", { address: "http://10.0.0.5" })))).toBe(1);
  expect(await lastPoll(502)).toBeGreaterThan(began);
  await poll(deps, request("d503"));
  expect(await lastPoll(503)).toBeUndefined();
  const once = await lastPoll(502);
  await poll(deps, request("d502", { address: "http://10.0.0.5" }));
  expect(await lastPoll(502)).toBe(once);
});

test("a poll neither waits for its target to be deleted nor fails", async () => {
  await seedTargets(fixture, [{ id: 504 }]);
  const client = await fixture.db.pool.connect();
  await client.query("begin");
  await client.query("delete from targets where tenant_id = 1 and id = 504");
  await poll(deps, request("d504", { address: "http://10.0.0.6" }));
  await client.query("rollback");
  client.release();
  expect(await lastPoll(504)).toBeUndefined();
});

test("a target that is deleted while last polls are written does not affect the others", async () => {
  await seedTargets(fixture, [{ id: 505 }, { id: 506 }, { id: 507 }]);
  for (const id of [505, 506, 507]) lastPolls.record(1, id, 5_000);
  const client = await fixture.db.pool.connect();
  await client.query("begin");
  await client.query("delete from targets where tenant_id = 1 and id = 506");
  const flushed = lastPolls.flush();
  // The statement has seen the target, and waits for its deletion to commit or not.
  const waits = "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%target_polls%'";
  await expect.poll(async () => (await fixture.db.pool.query(waits)).rows[0].n).toBe(1);
  await client.query("commit");
  client.release();
  await expect(flushed).resolves.toBeUndefined();
  expect([await lastPoll(505), await lastPoll(506), await lastPoll(507)]).toEqual([5_000, undefined, 5_000]);
});

test("last polls that could not be written stay for the next time, and stop() writes the remaining ones", async () => {
  await seedTargets(fixture, [{ id: 60 }]);
  let broken = true;
  const pool = {
    query: (config: never) => (broken ? Promise.reject(new Error("no database")) : fixture.db.pool.query(config)),
  };
  const own = createLastPolls({ pool: pool as never });
  const job = createJob(jobs["last-polls"], { lastPolls: own }, { log: { warn: (fields) => recorded.push(fields) }, everyMs: 10 });
  own.record(1, 60, 6_000);
  void job.start();
  await expect.poll(() => recorded.length).toBeGreaterThan(1);
  expect(recorded[0]).toMatchObject({ lastPolls: 1 });
  broken = false;
  await job.stop();
  expect(await lastPoll(60)).toBe(6_000);
});
