import type { Stack } from "@harrier/stack";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type ResilientStack, serviceOf, startResilientStack } from "./resilient-stack.ts";

/** The stack of a file whose tests kill. */
export interface ResilientSuite {
  /** The stack as it is now. */
  stack(): ResilientStack;
  /** Arms a fault on each replica of its service, and does the work; fails where none of them has died of it. */
  killedAt(fault: string, work: (resilient: ResilientStack) => Promise<void>): Promise<void>;
}

/** One stack for all tests of a file, as `prepare` leaves it. After a test that failed the next one gets another: its damage must not count twice. */
export function useResilientStack(prepare: (stack: Stack) => Promise<void> = async () => {}): ResilientSuite {
  let resilient: ResilientStack;
  let sound = false;
  const start = async () => {
    resilient = await startResilientStack();
    await prepare(resilient.stack);
    sound = true;
  };
  beforeAll(start);
  beforeEach(async () => {
    if (sound) return;
    await resilient.stop();
    await start();
  });
  afterAll(() => resilient?.stop());
  return {
    stack: () => resilient,
    async killedAt(fault, work) {
      sound = false;
      const before = resilient.deaths.length;
      await resilient.arm(fault);
      await work(resilient);
      const died = resilient.deaths.slice(before);
      // A point that no process passes proves nothing.
      expect(
        died.some((name) => name.startsWith(serviceOf(fault))),
        `died: ${died.join(", ")}`,
      ).toBe(true);
      await resilient.disarm();
      sound = true;
    },
  };
}
