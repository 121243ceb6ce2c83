import { actionStatus, updateStatus } from "@harrier/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { artifactLinks } from "../artifacts/artifact-links.ts";
import { readConfirmation, readDeployment } from "../deployment/deployment.ts";
import { createDeploymentDocuments } from "../deployment/documents.ts";
import {
  type ActionSeed,
  type DeviceFixture,
  deviceFixture,
  deviceNamed,
  readAction,
  readHistory,
  readOutbox,
  readTarget,
  seedActions,
  seedSet,
  seedTargets,
} from "../device.fixture.ts";
import { withDefaults } from "../settings/defaults.ts";
import { type PollDeps, poll } from "./poll.ts";
import { createPollReader } from "./poll-reader.ts";

// An action whose last maintenance window has passed is cancelled by the device's own poll or retrieval (contract device.md §3.1.4).

let fixture: DeviceFixture;
let deps: PollDeps;
let next = 1;
let id: number;
let actionId: number;
let outboxBefore: number;

const over = { schedule: "0 0 2 * * ? 2020", duration: "01:00", timezone: "+00:00", endsAt: "2020-12-31T03:00:00Z" };
const yearly = { schedule: "0 0 2 1 1 ?", duration: "01:00", timezone: "+00:00" };

beforeAll(async () => {
  fixture = await deviceFixture();
  await seedSet(fixture, { id: 100 });
  const { db, ids, secrets, limits } = fixture;
  const lastPolls = { record: () => undefined };
  deps = {
    db,
    readPoll: createPollReader(db.pool),
    ids,
    secrets,
    limits,
    lastPolls,
    log: { info: () => undefined },
    settings: { get: () => withDefaults([]) },
    now: Date.now,
  };
});
afterAll(() => fixture.close());
beforeEach(async () => {
  id = next++;
  actionId = 1_000 + id;
  await seedTargets(fixture, [{ id, updateStatus: updateStatus.pending, assignedSetId: 100 }]);
  outboxBefore = (await readOutbox(fixture)).length;
});

const seed = (more: Partial<ActionSeed> = {}) => seedActions(fixture, [{ id: actionId, targetId: id, maintenance: over, ...more }]);
const ask = (n = id, address: string | null = null) => poll(deps, { device: deviceNamed(`d${n}`), address, mayRegister: true });
const linksOf = (view: Awaited<ReturnType<typeof ask>>) => Object.entries(view._links ?? {}).map(([name, link]) => [name, link?.href]);
const events = async () => (await readOutbox(fixture)).slice(outboxBefore);
const toCancel = (n: number, action: number) => [["cancelAction", `http://ota.example/default/controller/v1/d${n}/cancelAction/${action}`]];

const documents = () => ({
  ...fixture,
  documents: createDeploymentDocuments({ pool: fixture.db.pool }),
  links: { of: () => artifactLinks("classic") },
  now: Date.now,
});
const request = () => ({ device: { ...deviceNamed(`d${id}`), traceparent: "00-trace" }, actionId, history: 0 });

const cancelled = {
  revision: 2,
  status: actionStatus.CANCELING,
  messages: ["manual cancelation requested"],
};

test.each([
  ["RUNNING", actionStatus.RUNNING],
  ["RETRIEVED", actionStatus.RETRIEVED],
  ["WAIT_FOR_CONFIRMATION", actionStatus.WAIT_FOR_CONFIRMATION],
])("a poll cancels an action that is %s and shows it at once, in its one round trip", async (_, status) => {
  await seed({ status });
  let view: Awaited<ReturnType<typeof ask>> = { config: { polling: { sleep: "" } } };
  expect(
    await fixture.roundTrips.during(async () => {
      view = await ask();
    }),
  ).toBe(1);
  expect(linksOf(view)).toEqual(toCancel(id, actionId));
  expect(view.config.polling.sleep).toBe("00:05:00");
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.CANCELING, active: true, revision: 2 });
  expect((await readHistory(fixture, actionId))[1]).toMatchObject(cancelled);
  expect(await events()).toMatchObject([
    {
      topic: "action-events",
      type: "io.update.action.status_changed.v1",
      common: { tenant: "DEFAULT", distributionSet: { id: 100 } },
      items: [
        [
          actionId,
          `d${id}`,
          2,
          status,
          actionStatus.CANCELING,
          true,
          1,
          1000,
          null,
          cancelled.messages,
          expect.any(Number),
          actionStatus.CANCELING,
        ],
      ],
    },
  ]);
  expect(await readTarget(fixture, id)).toMatchObject({ updateStatus: updateStatus.pending, assignedSetId: 100 });
});

test("concurrent polls leave one entry and one event, and get the same answer", async () => {
  await seed();
  const views = await Promise.all([...Array(12)].map(() => ask()));
  for (const view of views) expect(linksOf(view)).toEqual(toCancel(id, actionId));
  expect(await readHistory(fixture, actionId)).toHaveLength(2);
  expect(await events()).toHaveLength(1);
});

test("concurrent polls through several processes leave one entry too", async () => {
  await seed();
  const readers = [1, 2, 3, 4].map(() => createPollReader(fixture.db.pool));
  const requested = { device: deviceNamed(`d${id}`), address: null, mayRegister: true };
  const views = await Promise.all(readers.map((readPoll) => poll({ ...deps, readPoll }, requested)));
  for (const view of views) expect(linksOf(view)).toEqual(toCancel(id, actionId));
  expect(await readHistory(fixture, actionId)).toHaveLength(2);
  expect(await events()).toHaveLength(1);
});

test("together with polls that have nothing to change, each poll gets its own answer", async () => {
  await seed();
  const others = [500, 501, 502];
  await seedTargets(
    fixture,
    others.map((n) => ({ id: n })),
  );
  await seedActions(fixture, [{ id: 5_000, targetId: 500, maintenance: yearly }]);
  const views = await Promise.all([ask(500), ask(), ask(501), ask(502)]);
  expect(views.map((view) => Object.keys(view._links ?? {}))).toEqual([["deploymentBase"], ["cancelAction"], [], []]);
  expect(await readAction(fixture, 5_000)).toMatchObject({ revision: 1 });
});

test("the same poll also records the other changes of the target", async () => {
  await seedTargets(fixture, [{ id: 600, updateStatus: updateStatus.unknown }]);
  await seedActions(fixture, [{ id: 6_000, targetId: 600, maintenance: over }]);
  expect(await fixture.roundTrips.during(() => ask(600, "http://10.0.0.9"))).toBe(1);
  expect(await readTarget(fixture, 600)).toMatchObject({ updateStatus: updateStatus.registered });
  expect(await readAction(fixture, 6_000)).toMatchObject({ status: actionStatus.CANCELING, revision: 2 });
});

test("a poll does not wait for a lock of the target: it answers, and the next one does the work", async () => {
  await seed();
  const holder = await fixture.db.pool.connect();
  await holder.query("begin");
  await holder.query("select from target_state where tenant_id = 1 and target_id = $1 for update", [id]);
  expect(linksOf(await ask())).toEqual(toCancel(id, actionId));
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.RUNNING, revision: 1 });
  await holder.query("rollback");
  holder.release();
  await ask();
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.CANCELING, revision: 2 });
});

test("nothing changes with a future, running or endless window, or during a cancellation", async () => {
  const soon = { ...over, schedule: "0 0 2 * * ? 2098", endsAt: "2098-12-31T03:00:00Z" };
  for (const [i, more] of [{ maintenance: soon }, { maintenance: yearly }, { status: actionStatus.CANCELING }].entries()) {
    const targetId = 700 + i;
    await seedTargets(fixture, [{ id: targetId }]);
    await seedActions(fixture, [{ id: 7_000 + i, targetId, maintenance: over, ...more }]);
    expect(await fixture.roundTrips.during(() => ask(targetId))).toBe(1);
    expect(await readAction(fixture, 7_000 + i)).toMatchObject({ revision: 1 });
  }
});

test("a deployment that is read before the poll is cancelled and not found, in one round trip", async () => {
  await seed();
  const reading = documents();
  const read = () =>
    readDeployment(reading, { ...request(), resource: "deployment" }).then(
      () => "read",
      (error) => error.code,
    );
  expect(await fixture.roundTrips.during(async () => expect(await read()).toBe("stateNotFound"))).toBe(1);
  expect(await read()).toBe("stateNotFound");
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.CANCELING, revision: 2 });
  expect((await readHistory(fixture, actionId))[1]).toMatchObject(cancelled);
  expect(await events()).toMatchObject([{ traceparent: "00-trace" }]);
  expect(linksOf(await ask())).toEqual(toCancel(id, actionId));
});

test("so is a waiting action that is read as a confirmation", async () => {
  await seed({ status: actionStatus.WAIT_FOR_CONFIRMATION });
  await expect(readConfirmation(documents(), request())).rejects.toMatchObject({ code: "stateNotFound" });
  expect((await readHistory(fixture, actionId))[1]).toMatchObject(cancelled);
});

test("a closed action stays as it is, whatever its windows were", async () => {
  await seed({ status: actionStatus.FINISHED, active: false });
  const view = await readDeployment(documents(), { ...request(), resource: "deployment" });
  expect(view.deployment).toMatchObject({ download: "forced", update: "skip", maintenanceWindow: "unavailable" });
  expect(await readAction(fixture, actionId)).toMatchObject({ status: actionStatus.FINISHED, revision: 1 });
});

test("a deployment before and in its window", async () => {
  const day = (ms: number) => new Date(ms).toISOString().slice(11, 19).split(":").map(Number);
  const [h, m, s] = day(Date.now() - 5_000);
  await seed({ maintenance: { schedule: `${s} ${m} ${h} * * ?`, duration: "01:00", timezone: "+00:00" } });
  const read = async () => (await readDeployment(documents(), { ...request(), resource: "deployment" })).deployment;
  expect(await read()).toMatchObject({ download: "forced", update: "forced", maintenanceWindow: "available" });
  await fixture.db.pool.query("update actions set maintenance_schedule = '0 0 2 1 1 ? 2098' where tenant_id = 1 and id = $1", [actionId]);
  expect(await read()).toMatchObject({ download: "forced", update: "skip", maintenanceWindow: "unavailable" });
});
