import { autoAssignBody, autoAssignmentCreate } from "@harrier/contracts";
import type { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type AutoAssigner, createAutoAssigner } from "../auto-assign/auto-assigner.ts";
import { assignByFilter, endAutoAssign } from "../filters/auto-assign.ts";
import { createFilter, getFilter } from "../filters/filters.ts";
import { chunksOfController } from "../testing/auto-assign-chunks.ts";
import { createFixture, type Fixture, setIds, typeIds } from "../testing/database.fixture.ts";
import {
  changeAutoAssignment,
  createAutoAssignment,
  getAutoAssignment,
  listAutoAssignments,
  removeAutoAssignment,
  stepAutoAssignment,
} from "./auto-assignments.ts";

let fixture: Fixture;
let chunks: ReturnType<typeof chunksOfController>;
const engines: AutoAssigner[] = [];

beforeAll(async () => {
  fixture = await createFixture();
  chunks = chunksOfController(fixture.database, 3);
});
afterEach(async () => {
  chunks.beforeCall = () => {};
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
  await fixture.sql("delete from rollout_engine.target_filters");
});
afterAll(() => fixture?.drop());

const deps = () => ({ ...fixture.create, wake: () => engines[0]?.wake() });
const admin = () => fixture.call.principal;
function engine(): void {
  const made = createAutoAssigner(
    { ...fixture.create, actions: chunks, fault: () => {} },
    { pollMs: 50, leaseSeconds: 2, slots: 3, log: { warn: () => {} } },
  );
  made.start();
  engines.push(made);
}
let names = 0;
const create = (query: string, more: object = {}, principal: Principal = admin()) =>
  createAutoAssignment(
    deps(),
    autoAssignmentCreate.parse({ name: `a${++names}`, targetFilterQuery: query, distributionSetId: setIds.complete, ...more }),
    { ...fixture.call, principal },
  );
const step = (name: "start" | "pause" | "resume", id: number, principal: Principal = admin()) =>
  stepAutoAssignment(deps(), principal, id, name);
const statusOf = async (id: number) => (await getAutoAssignment(deps(), 1, id)).status;
const served = async (prefix: string) =>
  (await fixture.sql("select 1 from controller.actions where set_id = $1 and controller_id like $2 || '-%'", [setIds.complete, prefix]))
    .length;

test("after a pause is answered nothing is assigned, even by a pass under way; a resume assigns the rest", async () => {
  await fixture.addTargets("p", 30);
  let calls = 0;
  let reached: () => void = () => {};
  const underWay = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let goOn: () => void = () => {};
  const paused = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  chunks.beforeCall = async () => {
    calls += 1;
    if (calls !== 3) return;
    reached();
    await paused;
  };
  engine();
  const id = await create("name==p-*");
  await underWay;
  await step("pause", id);
  const before = await served("p");
  expect(before).toBeLessThan(30);
  goOn();
  // the target of another auto-assignment shows that the engine runs; this one stays paused
  await fixture.addTargets("q", 1);
  await create("name==q-*");
  await eventually(async () => expect(await served("q")).toBe(1));
  expect([await served("p"), await statusOf(id)]).toEqual([before, "paused"]);
  await step("resume", id);
  await eventually(async () => expect(await served("p")).toBe(30));
});

test("an auto-assignment with a start time is ready until then and starts by itself", async () => {
  await fixture.addTargets("r", 2);
  engine();
  const far = await create("name==r-1", { startAt: Date.now() + 3_600_000 });
  const near = await create("name==r-2", { startAt: Date.now() + 700 });
  expect(await statusOf(far)).toBe("ready");
  await eventually(async () => expect(await served("r")).toBe(1));
  expect([await statusOf(far), await statusOf(near)]).toEqual(["ready", "running"]);
  const [lease] = await fixture.sql<{ due: boolean }>(
    "select due_at > now() + interval '50 minutes' and due_at < now() + interval '61 minutes' as due from rollout_engine.auto_assign_leases where filter_id = $1",
    [far],
  );
  expect(lease).toEqual({ due: true });
  expect(await statusOf(await create("name==r-1", { startAt: 1 }))).toBe("running");
  await step("start", far);
  await eventually(async () => expect(await served("r")).toBe(2));
});

test("each command is accepted in one state only, and of two at the same time one succeeds", async () => {
  const id = await create("name==nobody");
  for (const name of ["start", "resume"] as const)
    await expect(step(name, id)).rejects.toMatchObject({ code: "autoAssignmentIllegalState" });
  const both = await Promise.allSettled([step("pause", id), step("pause", id)]);
  expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const refused = both.find((one) => one.status === "rejected")?.reason as HarrierError;
  expect(["autoAssignmentIllegalState", "concurrentModification"]).toContain(refused.code);
  for (const name of ["start", "pause"] as const)
    await expect(step(name, id)).rejects.toMatchObject({ code: "autoAssignmentIllegalState" });
});

test("an auto-assignment takes the filter of the same name and query; any other name in use is refused", async () => {
  const filterId = await createFilter(deps(), admin(), { name: "shared", query: "name==x" });
  await expect(create("name==y", { name: "shared" })).rejects.toMatchObject({ code: "entityAlreadyExists" });
  expect(await create("name==x", { name: "shared", description: "d", startAt: Date.now() + 60_000 })).toBe(filterId);
  expect(await getAutoAssignment(deps(), 1, filterId)).toMatchObject({ description: "d", status: "ready", standalone: false });
  await expect(create("name==x", { name: "shared" })).rejects.toMatchObject({ code: "entityAlreadyExists" });
  await removeAutoAssignment(deps(), admin(), filterId);
  expect(await getFilter(deps(), 1, filterId)).toMatchObject({ setId: null, status: "running", startAt: null, description: null });
});

test("a user restricted to target types can read an auto-assignment that reaches other types, but not change it", async () => {
  const restricted: Principal = {
    ...admin(),
    targetTypeScopes: { READ_TARGET: [typeIds.compatible], UPDATE_TARGET: [typeIds.compatible] },
  };
  const [all, own] = [await create("name==nobody"), await create("name==nobody", {}, restricted)];
  expect((await listAutoAssignments(deps(), 1, { offset: 0, limit: 50 })).rows.map(({ id }) => id)).toEqual([all, own]);
  const forbidden = { code: "insufficientPermission" };
  await expect(step("pause", all, restricted)).rejects.toMatchObject(forbidden);
  await expect(removeAutoAssignment(deps(), restricted, all)).rejects.toMatchObject(forbidden);
  // as with a filter, any user may change the name
  await changeAutoAssignment(deps(), restricted, all, { name: "n" });
  await step("pause", own, restricted);
  await removeAutoAssignment(deps(), restricted, own);
  await expect(getAutoAssignment(deps(), 1, own)).rejects.toMatchObject({ code: "entityNotFound" });
});

test("another set for a filter leaves its auto-assignment what the request cannot name: start, description, pause, and a confirmation that nobody sees", async () => {
  const name = `kept ${++names}`;
  const id = await createFilter(deps(), admin(), { name, query: "name==nobody" });
  const startAt = Date.now() + 3_600_000;
  expect(await create("name==nobody", { name, startAt, description: "why", confirmationRequired: true })).toBe(id);
  const give = () =>
    assignByFilter(deps(), id, autoAssignBody.parse({ id: setIds.complete, weight: 7 }), { ...fixture.call, principal: admin() });
  const now = () => getAutoAssignment(deps(), 1, id);
  await give();
  const kept = { startAt, description: "why", confirmationRequired: true };
  expect(await now()).toMatchObject({ ...kept, status: "ready", weight: 7 });
  await step("start", id);
  await give();
  expect(await now()).toMatchObject({ ...kept, status: "running" });
  await step("pause", id);
  await give();
  expect(await now()).toMatchObject({ ...kept, status: "paused" });
  // What has ended keeps nothing for what begins after it.
  await endAutoAssign(deps(), id, admin());
  await give();
  expect(await now()).toMatchObject({ startAt: null, description: null, confirmationRequired: false, status: "running" });
});
