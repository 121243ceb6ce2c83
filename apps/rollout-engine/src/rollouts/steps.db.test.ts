import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { getGroup } from "../groups/read-groups.ts";
import { setIds } from "../testing/database.fixture.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { getRollout } from "./read-rollouts.ts";
import { decideRollout, deleteRollout, pauseRollout, resumeRollout, stopRollout } from "./rollout-commands.ts";
import { stopRolloutsOfSet } from "./stop-rollouts.ts";

let fixture: EngineFixture;

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

const read = (id: number) => getRollout(fixture.create, 1, id);
const steps = (id: number) =>
  fixture.sql<{ sequence: number; what: string }>(
    `select sequence, case when group_id is null then 'rollout ' else 'group ' end || status as what
       from rollout_engine.rollout_steps where tenant_id = 1 and rollout_id = $1 order by sequence`,
    [id],
  );
/** Every event of a rollout has its step, with its sequence, and there is no other step. */
async function stepsAreEvents(id: number): Promise<void> {
  expect(await steps(id)).toEqual((await fixture.events(id)).map(({ sequence, what }) => ({ sequence, what })));
}

describe("console 2 why a rollout has its status, and the steps that led to it", () => {
  test("an error threshold: the group, its percentage and the limit; every step is that of an event", async () => {
    fixture.engine();
    const { id, g1, g2 } = await fixture.started({ amountGroups: 3, errorCondition: { expression: "50" } });
    expect(await read(id)).toMatchObject({
      startedAt: expect.any(Number),
      finishedAt: null,
      statusReason: { reason: null, actor: "system", groupId: null, value: null, limit: null },
    });
    await fixture.controller.report(id, g1, 3, "error");
    await fixture.isStatus(id, "paused");
    const { statusReason, startedAt } = await read(id);
    expect(statusReason).toMatchObject({ reason: "error_threshold", actor: "system", groupId: g1, value: 75, limit: 50 });
    expect(statusReason?.at).toBeGreaterThanOrEqual(startedAt ?? Number.POSITIVE_INFINITY);
    await resumeRollout(fixture.drive, fixture.call, id);
    expect((await read(id)).statusReason).toMatchObject({ reason: "user", actor: "admin", groupId: null, value: null });
    await fixture.areStatuses(id, "error", "running", "scheduled");
    const [failed, running] = await Promise.all([g1, g2].map((group) => getGroup(fixture.create, 1, id, group)));
    expect(failed).toMatchObject({ startedAt: expect.any(Number), finishedAt: statusReason?.at });
    expect(running).toMatchObject({ startedAt: expect.any(Number), finishedAt: null });
    await stopRollout(fixture.drive, fixture.call, id);
    await fixture.isStatus(id, "stopped");
    expect(await read(id)).toMatchObject({ startedAt, finishedAt: expect.any(Number), statusReason: { actor: "system" } });
    await stepsAreEvents(id);
    await deleteRollout(fixture.drive, fixture.call, id);
    await fixture.isStatus(id, "deleted");
    await stepsAreEvents(id);
  });

  test("the counts of a step are those of the moment: of the group, or of the rollout", async () => {
    fixture.engine();
    const { id, g1 } = await fixture.started({ amountGroups: 3, errorCondition: { expression: "50" } });
    await fixture.controller.report(id, g1, 1, "finished");
    await fixture.controller.report(id, g1, 3, "error");
    await fixture.isStatus(id, "paused");
    const counted = await fixture.sql(
      `select status, group_id::int as group, total_targets as total, counts from rollout_engine.rollout_steps
        where rollout_id = $1 and status in ('error', 'paused') order by sequence`,
      [id],
    );
    const group = { scheduled: 0, running: 0, finished: 1, error: 3, cancelled: 0 };
    expect(counted).toEqual([
      { status: "error", group: g1, total: 4, counts: group },
      { status: "paused", group: null, total: 12, counts: { ...group, scheduled: 8 } },
    ]);
  });

  test("a pause by success, by a user, and an invalidated set", async () => {
    fixture.engine();
    const more = { amountGroups: 2, successCondition: { expression: "50" }, successAction: { action: "PAUSE" } };
    const { id, g1 } = await fixture.started(more);
    await fixture.controller.report(id, g1, 4, "finished");
    await fixture.isStatus(id, "paused");
    expect((await read(id)).statusReason).toMatchObject({ reason: "success_pause", groupId: g1, value: 66.6667, limit: 50 });
    await resumeRollout(fixture.drive, fixture.call, id);
    await pauseRollout(fixture.drive, fixture.call, id);
    expect((await read(id)).statusReason).toMatchObject({ reason: "user", actor: "admin", value: null, limit: null });
    const { principal } = fixture.call;
    await stopRolloutsOfSet(
      fixture.drive,
      { setId: setIds.complete, keepRunning: false, initiator: "admin" } as never,
      { principal } as never,
    );
    expect((await read(id)).statusReason).toMatchObject({ reason: "invalidation", actor: "admin" });
    await fixture.isStatus(id, "stopped");
    await stepsAreEvents(id);
  });

  test("a group that a dynamic rollout adds is a step", async () => {
    fixture.engine();
    const { id } = await fixture.started({ amountGroups: 2, dynamic: true });
    await fixture.sql("update rollout_engine.rollout_groups set status = 'finished' where rollout_id = $1 and dynamic", [id]);
    await fixture.sql("update rollout_engine.leases set due_at = now() where rollout_id = $1", [id]);
    await fixture.areStatuses(id, "running", "scheduled", "finished", "scheduled");
    expect((await steps(id)).slice(-1)).toEqual([{ sequence: expect.any(Number), what: "group scheduled" }]);
    await stepsAreEvents(id);
  });

  test("a step of a former status explains no later one", async () => {
    fixture.engine();
    const id = await fixture.createRollout({});
    await fixture.isStatus(id, "ready");
    await fixture.sql("update rollout_engine.rollouts set status = 'waiting_for_approval' where id = $1", [id]);
    expect((await read(id)).statusReason).toBeNull();
    await decideRollout(fixture.drive, fixture.call, id, { approved: false, remark: "not today" });
    expect((await read(id)).statusReason).toMatchObject({ reason: "user", actor: "admin" });
    const remarks = await fixture.sql("select remark from rollout_engine.rollout_steps where rollout_id = $1 and remark is not null", [id]);
    expect(remarks).toEqual([{ remark: "not today" }]);
  });
});
