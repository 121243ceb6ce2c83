import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allFaults, dearestFaults } from "./support/fault-list.ts";
import { killAtRandom, testSeed } from "./support/random-kills.ts";
import { type ResilientStack, serviceOf, startResilientStack } from "./support/resilient-stack.ts";
import { answering } from "./support/serving.ts";

// This is a short selection of the points that faults.long.test.ts covers completely.

let resilient: ResilientStack;

beforeAll(async () => {
  resilient = await startResilientStack();
});
afterAll(() => resilient?.stop());

describe("kill -9 at a named moment of the main job, on every replica", () => {
  test.each(dearestFaults)("%s", async (fault) => {
    expect(allFaults.map((one) => one.split(":")[0])).toContain(fault.split(":")[0]);
    const before = resilient.deaths.length;
    await resilient.arm(fault);
    expect(await resilient.jobFaults({ devices: 24 })).toEqual([]);
    const died = resilient.deaths.slice(before);
    expect(
      died.some((name) => name.startsWith(serviceOf(fault))),
      `died: ${died.join(", ")}`,
    ).toBe(true);
    await resilient.disarm();
  });
});

test("kill -9 of any service at random moments", async () => {
  const seed = testSeed();
  const killed = await killAtRandom(resilient.stack, seed, 4, async (round) => {
    expect(await resilient.jobFaults({ devices: 24, seed: round }), `seed ${seed}`).toEqual([]);
  });
  expect(killed).toHaveLength(4);
  await answering(resilient.stack);
});
