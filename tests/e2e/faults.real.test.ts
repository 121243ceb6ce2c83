import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allFaults, dearestFaults } from "./support/fault-list.ts";
import { killAtRandom, testSeed } from "./support/random-kills.ts";
import { answering } from "./support/serving.ts";
import { serviceOf, startToughStack, type ToughStack } from "./support/tough-stack.ts";

// the short selection of what faults.long.test.ts walks in full

let tough: ToughStack;

beforeAll(async () => {
  tough = await startToughStack();
});
afterAll(() => tough?.stop());

describe("kill -9 at a named moment of the main job, on every replica", () => {
  test.each(dearestFaults)("%s", async (fault) => {
    expect(allFaults.map((one) => one.split(":")[0])).toContain(fault.split(":")[0]);
    const before = tough.deaths.length;
    await tough.arm(fault);
    expect(await tough.jobFaults({ devices: 24 })).toEqual([]);
    const died = tough.deaths.slice(before);
    expect(
      died.some((name) => name.startsWith(serviceOf(fault))),
      `died: ${died.join(", ")}`,
    ).toBe(true);
    await tough.disarm();
  });
});

test("kill -9 of any service at random moments", async () => {
  const seed = testSeed();
  const killed = await killAtRandom(tough.stack, seed, 4, async (round) => {
    expect(await tough.jobFaults({ devices: 24, seed: round }), `seed ${seed}`).toEqual([]);
  });
  expect(killed).toHaveLength(4);
  await answering(tough.stack);
});
