import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";

/** Returns the seed of this run; HARRIER_TEST_SEED repeats an earlier one. It is printed, so that a failure can be reproduced. */
export function testSeed(): number {
  const given = process.env["HARRIER_TEST_SEED"];
  const seed = given === undefined || given === "" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  console.log(`HARRIER_TEST_SEED=${seed}`);
  return seed;
}

/** Yields numbers from 0 to 1 that depend on the seed only (mulberry32). */
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
  /** The number of kills. */
  count: number;
  /** The names of the processes to kill (`controller-0`, `postgres`); every service by default. */
  among?: readonly string[];
  /** The bounds of the pause between two kills. */
  cooldownMs?: readonly [from: number, to: number];
}

export interface Killer {
  /** The names of the killed processes, in order. */
  readonly killed: readonly string[];
  /** Resolves when all kills are done, or when the killer was stopped. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Kills processes of the stack at random moments until it has killed enough; a process that is not running at that moment is skipped. */
export function startKiller(stack: Stack, { seed, count, among, cooldownMs = [300, 3_000] }: Kills): Killer {
  const names = among ?? stack.services.map(({ name }) => name);
  const random = numbersFrom(seed);
  const killed: string[] = [];
  let working = true;
  const done = (async () => {
    while (working && killed.length < count) {
      await sleep(cooldownMs[0] + random() * (cooldownMs[1] - cooldownMs[0]));
      const victim = names[Math.floor(random() * names.length)];
      const pid = stack.processes().find(({ name }) => name === victim)?.pid;
      if (victim === undefined || pid === undefined || !working) continue;
      try {
        process.kill(pid, "SIGKILL");
        killed.push(victim);
      } catch {
        // the process has just ended, and has not started again yet
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

/** Kills any replica of any service at random moments, `count` times while `work` runs repeatedly; `work` begins once more for each kill. */
export async function killAtRandom(stack: Stack, seed: number, count: number, work: (round: number) => Promise<void>): Promise<string[]> {
  const killer = startKiller(stack, { seed, count });
  try {
    for (let round = 0; killer.killed.length < count || round === 0; round += 1) await work(round);
  } finally {
    await killer.stop();
  }
  return [...killer.killed];
}
