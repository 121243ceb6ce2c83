import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "@harrier/stack";
import { type Admin, createDevice, eventually, uniqueName } from "@harrier/testkit";
import { expect } from "vitest";

const limitMs = 60_000;

/** What an HTTP device sees while something else is in trouble. */
export interface Polling {
  /** Waits until it has polled some times more. */
  goesOn(): Promise<void>;
  /** Ends it, and answers why polls were not served. */
  stop(): Promise<readonly unknown[]>;
}

/** Has an HTTP device poll until it is stopped. */
export async function pollOn(stack: Stack, admin: Admin): Promise<Polling> {
  const controllerId = uniqueName("polls");
  const token = `token-${controllerId}`;
  await admin.post("targets", [{ controllerId, name: controllerId, securityToken: token }]);
  const device = createDevice({ baseUrl: stack.baseUrl, controllerId, token });
  const failures: unknown[] = [];
  let polls = 0;
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      await device.poll().then(
        () => {
          polls += 1;
        },
        (error: unknown) => failures.push(error),
      );
      await sleep(50);
    }
  })();
  return {
    async goesOn() {
      const before = polls;
      await eventually(() => expect(polls).toBeGreaterThan(before + 3), limitMs);
    },
    async stop() {
      stopped = true;
      await done;
      return failures;
    },
  };
}
