import { HarrierError } from "@harrier/errors";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { getRollout, listRollouts } from "../rollouts/read-rollouts.ts";
import { startRollout } from "../rollouts/rollout-commands.ts";
import { createEngineFixture, type EngineFixture } from "../testing/engine.fixture.ts";

let fixture: EngineFixture;
const timeoutMs = 25_000;

beforeAll(async () => {
  fixture = await createEngineFixture();
});
afterEach(() => fixture.stopEngines());
afterAll(() => fixture?.drop());

const lastError = async (id: number) => (await getRollout(fixture.create, 1, id)).lastError;
/** Creates a rollout that is ready to be started. */
async function ready(): Promise<number> {
  const id = await fixture.createRollout({});
  await fixture.isStatus(id, "ready");
  return id;
}

test("a failing step is shown on the rollout, retried with growing back-off, and cleared when it succeeds", async () => {
  fixture.engine();
  const [bad, good] = [await ready(), await ready()];
  const [group] = await fixture.groups(bad);
  let failing = true;
  fixture.controller.beforeCall = (command) => {
    if (failing && command === `schedule ${group?.id}`) throw new HarrierError("unavailable", "controller is away");
  };
  const began = Date.now();
  for (const id of [bad, good]) await startRollout(fixture.drive, fixture.call, id);
  // the other rollout goes on
  await fixture.isStatus(good, "running");
  expect(await lastError(good)).toBeNull();
  await eventually(async () => expect((await lastError(bad))?.attempts).toBeGreaterThan(2), timeoutMs);
  const told = await lastError(bad);
  expect(told?.message).toBe("controller is away");
  expect(told?.at).toBeGreaterThanOrEqual(began);
  const listed = await listRollouts(fixture.create, fixture.call.principal, "EXCLUDE_SOFT_DELETED", { offset: 0, limit: 50 });
  expect(listed.rows.find(({ id }) => id === bad)?.lastError?.message).toBe("controller is away");
  failing = false;
  await fixture.isStatus(bad, "running");
  await eventually(async () => expect(await lastError(bad)).toBeNull(), timeoutMs);
  expect(await fixture.actions(bad)).toEqual(await fixture.actions(good));
});

test("an internal error is shown without its text", async () => {
  fixture.engine();
  const id = await ready();
  fixture.controller.beforeCall = () => {
    throw new Error("select token_cipher from controller.targets");
  };
  await startRollout(fixture.drive, fixture.call, id);
  await eventually(async () => expect((await lastError(id))?.attempts).toBeGreaterThan(0), timeoutMs);
  expect((await lastError(id))?.message).toBe("An unexpected error occurred. The log of the rollout engine tells more.");
});

test("reports of its devices do not cancel the back-off", async () => {
  fixture.engine();
  const { id, g1 } = await fixture.started({ amountGroups: 2 });
  // the engine is stopped first, because a round under way would overwrite this when it releases its lease
  await fixture.stopEngines();
  await fixture.sql(
    `update rollout_engine.leases set attempts = 9, last_error = 'x', failed_at = now(), due_at = now() + interval '1 hour',
            cooldown_until = now() + interval '1 hour' where rollout_id = $1`,
    [id],
  );
  const lease =
    "select notifications::int as notifications, due_at > now() + interval '59 minutes' as later from rollout_engine.leases where rollout_id = $1";
  const [before] = await fixture.sql<{ notifications: number }>(lease, [id]);
  fixture.engine();
  await fixture.controller.report(id, g1, 1, "finished");
  await eventually(
    async () =>
      expect((await fixture.sql<{ notifications: number }>(lease, [id]))[0]?.notifications).toBeGreaterThan(before?.notifications ?? 0),
    timeoutMs,
  );
  expect((await fixture.sql<{ later: boolean }>(lease, [id]))[0]?.later).toBe(true);
});

test("a lease that expired unreleased counts as a failure", async () => {
  const id = await fixture.createRollout({});
  await fixture.sql(
    "update rollout_engine.leases set owner = gen_random_uuid(), until = now() - interval '1 second', attempts = 1 where rollout_id = $1",
    [id],
  );
  let seen: unknown;
  const { db } = fixture.create;
  fixture.engine(
    {},
    {
      fault: async (name) => {
        if (name !== "rollout-engine.freeze.after-commit") return;
        seen = await lastError(id);
      },
      db,
    },
  );
  await fixture.isStatus(id, "ready");
  await eventually(
    () => expect(seen).toMatchObject({ message: "The process that worked on it ended in the middle.", attempts: 2 }),
    timeoutMs,
  );
  await eventually(async () => expect(await lastError(id)).toBeNull(), timeoutMs);
});
