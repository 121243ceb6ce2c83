import type { ServiceName, Stack } from "@harrier/stack";
import { replicasOf } from "./replicas.ts";
import { answering } from "./serving.ts";

/**
 * Kills every replica of these services, and again each time the supervisor has started one, long before it can listen. `release` lets them start and
 * waits until everything answers.
 */
export function keepDown(stack: Stack, ...services: ServiceName[]): { release(): Promise<void> } {
  const replicas = services.flatMap((service) => replicasOf(stack, service));
  const killAll = () => {
    for (const { service, index } of replicas) stack.kill(service, index);
  };
  killAll();
  const timer = setInterval(killAll, 25);
  return {
    async release() {
      clearInterval(timer);
      await answering(stack);
    },
  };
}
