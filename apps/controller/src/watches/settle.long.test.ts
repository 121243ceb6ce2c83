import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, countedProgress, progressOf } from "../commands.fixture.ts";
import { policy, proof, watchedFleet } from "./watches.fixture.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

// A chunk starts so many at a time.
const many = 3_000;

test("3,000 claims that nobody has proven are settled in time, and their counts are exact", { timeout: 300_000 }, async () => {
  const fleet = watchedFleet(fixture);
  const { pool } = fixture.db;
  const targets = Array.from({ length: many }, (_, n) => n + 1);
  const [first = 0] = await fleet.start(1, targets, policy({ proof: proof() }));
  await pool.query(
    "select report(1, controller_id, id, 0::smallint, 0::smallint, 0::smallint, null, '{}', now(), 0, 0, 'DEFAULT', null) from actions where active",
  );
  const { rows } = await pool.query("update action_watches set claimed_at = now() - interval '2 hours', due_at = now() returning 1");
  const began = performance.now();
  while (await fleet.settle());
  const perSecond = Math.round((rows.length / (performance.now() - began)) * 1000);
  console.log(`settled ${rows.length} actions, ${perSecond} a second`);
  expect(first).toBeGreaterThan(0);
  expect(await progressOf(fixture, 1)).toEqual(await countedProgress(fixture, 1));
  expect(perSecond).toBeGreaterThan(1000);
});
