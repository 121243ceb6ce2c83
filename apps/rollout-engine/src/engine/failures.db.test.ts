import { HarrierError } from "@harrier/errors";
import { eventually } from "@harrier/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startRollout } from "../rollouts/drive-rollout.ts";
import { getRollout, listRollouts } from "../rollouts/read-rollouts.ts";
import { createEngineWorld, type EngineWorld } from "../testing/engine-world.ts";

let world: EngineWorld;
const patienceMs = 25_000;

beforeAll(async () => {
  world = await createEngineWorld();
});
afterEach(() => world.stopEngines());
afterAll(() => world?.drop());

const lastError = async (id: number) => (await getRollout(world.create, 1, id)).lastError;
/** A rollout that is ready to be started. */
async function ready(): Promise<number> {
  const id = await world.createRollout({});
  await world.isStatus(id, "ready");
  return id;
}

test("a step that fails is told on the rollout, tried again with growing rests, and forgotten when it succeeds", async () => {
  world.engine();
  const [bad, good] = [await ready(), await ready()];
  const [group] = await world.groups(bad);
  let failing = true;
  world.controller.beforeCall = (command) => {
    if (failing && command === `schedule ${group?.id}`) throw new HarrierError("unavailable", "controller is away");
  };
  const began = Date.now();
  for (const id of [bad, good]) await startRollout(world.drive, world.call, id);
  // the other one goes on
  await world.isStatus(good, "running");
  expect(await lastError(good)).toBeNull();
  await eventually(async () => expect((await lastError(bad))?.attempts).toBeGreaterThan(2), patienceMs);
  const told = await lastError(bad);
  expect(told?.message).toBe("controller is away");
  expect(told?.at).toBeGreaterThanOrEqual(began);
  const listed = await listRollouts(world.create, world.call.principal, "EXCLUDE_SOFT_DELETED", { offset: 0, limit: 50 });
  expect(listed.rows.find(({ id }) => id === bad)?.lastError?.message).toBe("controller is away");
  failing = false;
  await world.isStatus(bad, "running");
  await eventually(async () => expect(await lastError(bad)).toBeNull(), patienceMs);
  expect(await world.actions(bad)).toEqual(await world.actions(good));
});

test("what fails inside is told without its text", async () => {
  world.engine();
  const id = await ready();
  world.controller.beforeCall = () => {
    throw new Error("select token_cipher from controller.targets");
  };
  await startRollout(world.drive, world.call, id);
  await eventually(async () => expect((await lastError(id))?.attempts).toBeGreaterThan(0), patienceMs);
  expect((await lastError(id))?.message).toBe("An unexpected error occurred. The log of the rollout engine tells more.");
});

test("reports of its devices do not undo the back-off", async () => {
  world.engine();
  const { id, g1 } = await world.started({ amountGroups: 2 });
  // a turn that is still under way would give its lease back over this
  await world.stopEngines();
  await world.sql(
    `update rollout_engine.leases set attempts = 9, last_error = 'x', failed_at = now(), due_at = now() + interval '1 hour',
            rested_at = now() + interval '1 hour' where rollout_id = $1`,
    [id],
  );
  const lease =
    "select rung::int as rung, due_at > now() + interval '59 minutes' as later from rollout_engine.leases where rollout_id = $1";
  const [before] = await world.sql<{ rung: number }>(lease, [id]);
  world.engine();
  await world.controller.report(id, g1, 1, "finished");
  await eventually(
    async () => expect((await world.sql<{ rung: number }>(lease, [id]))[0]?.rung).toBeGreaterThan(before?.rung ?? 0),
    patienceMs,
  );
  expect((await world.sql<{ later: boolean }>(lease, [id]))[0]?.later).toBe(true);
});

test("a lease that was never given back counts as a failure", async () => {
  const id = await world.createRollout({});
  await world.sql(
    "update rollout_engine.leases set owner = gen_random_uuid(), until = now() - interval '1 second', attempts = 1 where rollout_id = $1",
    [id],
  );
  let seen: unknown;
  const { db } = world.create;
  world.engine(
    {},
    {
      fault: async (name) => {
        if (name !== "rollout-engine.freeze.after-commit") return;
        seen = await lastError(id);
      },
      db,
    },
  );
  await world.isStatus(id, "ready");
  await eventually(
    () => expect(seen).toMatchObject({ message: "The process that worked on it ended in the middle.", attempts: 2 }),
    patienceMs,
  );
  await eventually(async () => expect(await lastError(id)).toBeNull(), patienceMs);
});
