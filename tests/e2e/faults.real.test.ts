import { describe, expect, test } from "vitest";
import { allFaults, dearestFaults } from "./support/fault-list.ts";
import { killAtRandom, testSeed } from "./support/random-kills.ts";
import { useResilientStack } from "./support/resilient-suite.ts";
import { answering } from "./support/serving.ts";

// This is a short selection of the points that faults.long.test.ts covers completely.

const suite = useResilientStack();

describe("kill -9 at a named moment of the main job, on every replica", () => {
  test.each(dearestFaults)("%s", async (fault) => {
    expect(allFaults.map((one) => one.split(":")[0])).toContain(fault.split(":")[0]);
    await suite.killedAt(fault, async ({ jobFaults }) => expect(await jobFaults({ devices: 24 })).toEqual([]));
  });
});

test("kill -9 of any service at random moments", async () => {
  const seed = testSeed();
  const resilient = suite.stack();
  const killed = await killAtRandom(resilient.stack, seed, 4, async (round) => {
    expect(await resilient.jobFaults({ devices: 24, seed: round }), `seed ${seed}`).toEqual([]);
  });
  expect(killed).toHaveLength(4);
  await answering(resilient.stack);
});
