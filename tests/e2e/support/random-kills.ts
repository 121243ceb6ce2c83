import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";

/** The seed of this run: HARRIER_TEST_SEED repeats an earlier one. Printed, so that a failure can be looked at again. */
export function testSeed(): number {
  const given = process.env["HARRIER_TEST_SEED"];
  const seed = given === undefined || given === "" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  console.log(`HARRIER_TEST_SEED=${seed}`);
  return seed;
}

/** Numbers from 0 to 1 that depend on the seed only (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Kills any replica of any service at random moments, `count` times while `work` runs again and again; `work` begins once more for each. */
export async function killAtRandom(stack: Stack, seed: number, count: number, work: (round: number) => Promise<void>): Promise<string[]> {
  const random = numbersFrom(seed);
  const killed: string[] = [];
  let working = true;
  const killing = (async () => {
    while (working && killed.length < count) {
      await sleep(300 + random() * 2_700);
      const victim = stack.services[Math.floor(random() * stack.services.length)];
      if (victim === undefined || !working) break;
      killed.push(victim.name);
      stack.kill(victim.service, victim.index);
    }
  })();
  try {
    for (let round = 0; killed.length < count || round === 0; round += 1) await work(round);
  } finally {
    working = false;
    await killing;
  }
  return killed;
}
