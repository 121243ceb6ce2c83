import { runOne } from "@harrier/db";
import { createJob } from "@harrier/jobs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { jobs } from "../jobs.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";
import { findDueWork } from "./due-work.sql.ts";
import { wakeForDueWork } from "./due-work.ts";

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await createEngineFixture();
  await look(); // the targets of the fixture are changes of the fleet
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

const change = (type: string) =>
  fixture.sql("insert into controller.outbox (tenant_id, topic, type, common, items) values (1, 'target-events', $1, '{}', '[]')", [type]);

/** Looks once; answers whom it has woken, and whether the next look may come later. */
async function look() {
  const woken: string[] = [];
  const answer = await wakeForDueWork({ db: fixture.create.db, wake: (worker) => woken.push(worker) });
  return { woken, rests: answer === false, soon: typeof answer === "object" };
}

test("while nothing is under way nobody is woken, and the next look may come later", async () => {
  expect(await look()).toEqual({ woken: [], rests: true, soon: false });
});

test("a change of the fleet wakes those who search it, once", async () => {
  await change("t");
  expect(await look()).toEqual({ woken: ["auto-assignments", "dynamic-rollouts"], rests: false, soon: false });
  expect(await look()).toEqual({ woken: [], rests: true, soon: false });
});

test("an engine that polls once a minute is woken for what is due and for each report; while a rollout runs nothing rests", async () => {
  const engine = fixture.engine({ pollMs: 60_000 });
  const dueWork = { db: fixture.create.db, wake: (worker: string) => (worker === "rollouts" ? engine.wake() : undefined) };
  const job = createJob(jobs["due-work"], { dueWork }, { log: {}, everyMs: 50 });
  void job.start();
  const { id, g1, g2 } = await fixture.started({ amountGroups: 2, successCondition: { expression: "50" } });
  await fixture.areStatuses(id, "running", "scheduled");
  await job.stop();
  expect(await look()).toMatchObject({ rests: false, soon: true });
  const again = createJob(jobs["due-work"], { dueWork }, { log: {}, everyMs: 50 });
  void again.start();
  await fixture.controller.report(id, g1, 6, "finished");
  await fixture.areStatuses(id, "finished", "running");
  await fixture.controller.report(id, g2, 6, "finished");
  await fixture.isStatus(id, "finished");
  // A change that was seen while any transaction of the cluster was open, also one of another database, is noticed once more when that has ended.
  const unsettled = `select exists (select from controller.group_changes_v1 g
    where (g.txid, g.id) > (select txid, id from rollout_engine.progress_cursor)) as unsettled`;
  await expect.poll(() => fixture.sql(unsettled, []), { timeout: 30_000 }).toEqual([{ unsettled: false }]);
  // An engine that was stopped earlier might leave what the last report has made due.
  const nothing = { progress: false, fleet: false, rollouts: false, running: false, expected: false };
  await expect.poll(() => runOne(fixture.create.db.pool, findDueWork, []), { timeout: 10_000 }).toMatchObject(nothing);
  await again.stop();
  await fixture.stopEngines();
  expect(await look()).toEqual({ woken: [], rests: true, soon: false });
});

test("a start within the minute is expected, a later one and a filter without a set are not", async () => {
  const startAt = Date.now() + 3_600_000;
  const engine = fixture.engine({ pollMs: 50 });
  const id = await fixture.createRollout({ startAt });
  await fixture.isStatus(id, "ready");
  // The status is there before the lease says when the rollout is looked at next.
  const restsLong =
    "select until is null and due_at > now() + interval '1 minute' as rests from rollout_engine.leases where rollout_id = $1";
  await expect.poll(() => fixture.sql(restsLong, [id]), { timeout: 10_000 }).toEqual([{ rests: true }]);
  await engine.stop();
  expect(await look()).toMatchObject({ woken: [], rests: true });
  await fixture.sql("update rollout_engine.leases set due_at = now() + interval '30 seconds' where rollout_id = $1", [id]);
  expect(await look()).toEqual({ woken: [], rests: false, soon: false });
  await fixture.sql("update rollout_engine.leases set due_at = now() where rollout_id = $1", [id]);
  expect(await look()).toEqual({ woken: ["rollouts"], rests: false, soon: false });
});
