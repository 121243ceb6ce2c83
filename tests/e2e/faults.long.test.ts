import { describe, expect, test } from "vitest";
import { allFaults } from "./support/fault-list.ts";
import { killAtRandom, testSeed } from "./support/random-kills.ts";
import { useResilientStack } from "./support/resilient-suite.ts";
import { answering } from "./support/serving.ts";

// After kill -9 of each service at every named fault point, and at 20 random moments, the job still ends right, no action exists twice and no event
// is missing. There are two replicas of controller and rollout-engine, and the fault is armed on each replica.

const suite = useResilientStack();

describe("kill -9 at every named moment of the main job, on every replica", () => {
  test.each(allFaults)("%s", { timeout: 240_000 }, (fault) =>
    suite.killedAt(fault, async ({ jobFaults }) => expect(await jobFaults()).toEqual([])),
  );
});

test("kill -9 of any service at 20 random moments", async () => {
  const seed = testSeed();
  const resilient = suite.stack();
  const killed = await killAtRandom(resilient.stack, seed, 20, async (round) => {
    expect(await resilient.jobFaults({ seed: round }), `seed ${seed}, round ${round}`).toEqual([]);
  });
  console.log(`killed: ${killed.join(", ")}`);
  expect(killed).toHaveLength(20);
  await answering(resilient.stack);
});
