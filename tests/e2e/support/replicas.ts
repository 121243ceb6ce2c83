import type { RunningService, ServiceName, Stack } from "@harrier/stack";
import { type Admin, basic, createAdmin, eventually } from "@harrier/testkit";

/** Lists all replicas of a service, in the order of their index. */
export function replicasOf(stack: Stack, service: ServiceName): RunningService[] {
  return stack.services.filter((replica) => replica.service === service);
}

export function replicaOf(stack: Stack, service: ServiceName, index = 0): RunningService {
  const found = replicasOf(stack, service)[index];
  if (found === undefined) throw new Error(`the stack has no ${service}-${index}`);
  return found;
}

/** Returns the address of one replica itself: behind the gateway, or of one gateway among several. */
export const urlOf = (replica: RunningService): string => `http://127.0.0.1:${replica.httpPort}`;

export const gatewayUrls = (stack: Stack): string[] => replicasOf(stack, "gateway").map(urlOf);

/** Makes a client of the administrator, through the first gateway or another address. */
export function adminOf(stack: Stack, baseUrl = stack.baseUrl): Admin {
  return createAdmin({ baseUrl, user: stack.adminUser, password: stack.adminPassword });
}

/** Makes the administrator's Authorization header. */
export function basicOf(stack: Stack): string {
  return basic(stack.adminUser, stack.adminPassword);
}

/** Lets devices sign in with the token of their target, and waits until controller and every gateway know the setting. */
export async function allowTargetTokens(stack: Stack): Promise<void> {
  await eventually(() => adminOf(stack).configure("authentication.targettoken.enabled", true));
  // Settings are read twice a second, and the gateways get the change by their stream.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}
