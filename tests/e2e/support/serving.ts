import type { RunningService, Stack } from "@harrier/stack";
import { eventually, startTestStack, type TestStackOptions } from "@harrier/testkit";
import { adminOf, gatewayUrls, urlOf } from "./replicas.ts";

/**
 * Waits until these replicas are ready, however often they have died before (`stack.ready()` gives up on a replica that keeps ending, which is right
 * for a start and wrong for a test that kills).
 */
export async function serving(replicas: readonly RunningService[], limitMs = 60_000): Promise<void> {
  await Promise.all(
    replicas.map((replica) =>
      eventually(async () => {
        const answer = await fetch(`${urlOf(replica)}/readyz`, { signal: AbortSignal.timeout(2_000) });
        if (!answer.ok) throw new Error(`${replica.name} is not ready: ${await answer.text()}`);
      }, limitMs),
    ),
  );
}

/**
 * Waits until everything serves and an administrator's request reaches every owner through every gateway: broken connections between services are
 * made again within two seconds after readiness.
 */
export async function answering(stack: Stack): Promise<void> {
  await serving(stack.services);
  for (const gateway of gatewayUrls(stack)) {
    const api = adminOf(stack, gateway);
    await eventually(
      async () => {
        await api.createSetWithFile("answering?");
        await api.createTarget();
      },
      20_000,
      200,
    );
  }
}

/** Starts a stack of its own for a test file, of which every part answers. */
export async function startAnsweringStack(options: TestStackOptions = {}): Promise<Stack> {
  const stack = await startTestStack(options);
  try {
    await answering(stack);
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}
