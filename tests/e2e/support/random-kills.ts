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
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Kills {
  seed: number;
  /** How many. */
  count: number;
  /** Names of processes (`controller-0`, `postgres`); every service by default. */
  among?: readonly string[];
  /** Between two kills, from … to. */
  restMs?: readonly [from: number, to: number];
}

export interface Killer {
  /** Names of the killed, in order. */
  readonly killed: readonly string[];
  /** Resolves when all kills are done, or it was stopped. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Kills processes of the stack at random moments until it has killed enough; whoever is not there at that moment is passed over. */
export function startKiller(stack: Stack, { seed, count, among, restMs = [300, 3_000] }: Kills): Killer {
  const names = among ?? stack.services.map(({ name }) => name);
  const random = numbersFrom(seed);
  const killed: string[] = [];
  let working = true;
  const done = (async () => {
    while (working && killed.length < count) {
      await sleep(restMs[0] + random() * (restMs[1] - restMs[0]));
      const victim = names[Math.floor(random() * names.length)];
      const pid = stack.processes().find(({ name }) => name === victim)?.pid;
      if (victim === undefined || pid === undefined || !working) continue;
      try {
        process.kill(pid, "SIGKILL");
        killed.push(victim);
      } catch {
        // it has just ended, and is not there again yet
      }
    }
  })();
  return {
    killed,
    done,
    stop() {
      working = false;
      return done;
    },
  };
}

/** Kills any replica of any service at random moments, `count` times while `work` runs again and again; `work` begins once more for each. */
export async function killAtRandom(stack: Stack, seed: number, count: number, work: (round: number) => Promise<void>): Promise<string[]> {
  const killer = startKiller(stack, { seed, count });
  try {
    for (let round = 0; killer.killed.length < count || round === 0; round += 1) await work(round);
  } finally {
    await killer.stop();
  }
  return [...killer.killed];
}
