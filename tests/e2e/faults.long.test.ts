import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { allFaults } from "./support/fault-list.ts";
import { killAtRandom, testSeed } from "./support/random-kills.ts";
import { answering } from "./support/serving.ts";
import { serviceOf, startToughStack, type ToughStack } from "./support/tough-stack.ts";

// issue "Done when": kill -9 of each service at every named fault point, and at 20 random moments; it still ends right,
// no action twice, no event missing. Two replicas of controller and rollout-engine, the fault armed on each replica.

let tough: ToughStack;
let sound = true;

beforeAll(async () => {
  tough = await startToughStack();
});
// what one point broke must not be held against the next
beforeEach(async () => {
  if (sound) return;
  await tough.stop();
  tough = await startToughStack();
  sound = true;
});
afterAll(() => tough?.stop());

describe("kill -9 at every named moment of the main job, on every replica", () => {
  test.each(allFaults)("%s", { timeout: 240_000 }, async (fault) => {
    sound = false;
    const before = tough.deaths.length;
    await tough.arm(fault);
    expect(await tough.jobFaults()).toEqual([]);
    const died = tough.deaths.slice(before);
    // a point that nobody passes proves nothing
    expect(
      died.some((name) => name.startsWith(serviceOf(fault))),
      `died: ${died.join(", ")}`,
    ).toBe(true);
    await tough.disarm();
    sound = true;
  });
});

test("kill -9 of any service at 20 random moments", async () => {
  const seed = testSeed();
  const killed = await killAtRandom(tough.stack, seed, 20, async (round) => {
    expect(await tough.jobFaults({ seed: round }), `seed ${seed}, round ${round}`).toEqual([]);
  });
  console.log(`killed: ${killed.join(", ")}`);
  expect(killed).toHaveLength(20);
  await answering(tough.stack);
});
