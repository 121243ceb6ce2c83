import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { allFaults } from "./support/fault-list.ts";
import { killAtRandom, testSeed } from "./support/random-kills.ts";
import { type ResilientStack, serviceOf, startResilientStack } from "./support/resilient-stack.ts";
import { answering } from "./support/serving.ts";

// After kill -9 of each service at every named fault point, and at 20 random moments, the job still ends right, no action exists twice and no event
// is missing (issue "Done when"). There are two replicas of controller and rollout-engine, and the fault is armed on each replica.

let resilient: ResilientStack;
let sound = true;

beforeAll(async () => {
  resilient = await startResilientStack();
});
// The damage of one point must not count against the next.
beforeEach(async () => {
  if (sound) return;
  await resilient.stop();
  resilient = await startResilientStack();
  sound = true;
});
afterAll(() => resilient?.stop());

describe("kill -9 at every named moment of the main job, on every replica", () => {
  test.each(allFaults)("%s", { timeout: 240_000 }, async (fault) => {
    sound = false;
    const before = resilient.deaths.length;
    await resilient.arm(fault);
    expect(await resilient.jobFaults()).toEqual([]);
    const died = resilient.deaths.slice(before);
    // A point that no process passes proves nothing.
    expect(
      died.some((name) => name.startsWith(serviceOf(fault))),
      `died: ${died.join(", ")}`,
    ).toBe(true);
    await resilient.disarm();
    sound = true;
  });
});

test("kill -9 of any service at 20 random moments", async () => {
  const seed = testSeed();
  const killed = await killAtRandom(resilient.stack, seed, 20, async (round) => {
    expect(await resilient.jobFaults({ seed: round }), `seed ${seed}, round ${round}`).toEqual([]);
  });
  console.log(`killed: ${killed.join(", ")}`);
  expect(killed).toHaveLength(20);
  await answering(resilient.stack);
});
