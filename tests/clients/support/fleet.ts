import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, createDevice, eventually, startTestStack, type TestStackOptions } from "@harrier/testkit";

/** A stack that devices may sign in to, in both ways. */
export interface Fleet {
  stack: Stack;
  admin: Admin;
  gatewayToken: string;
}

/** This is the minimum that a tenant may set: clients wait as long between two polls. */
export const POLL_SECONDS = 30;

/** The clients mostly wait, so they run concurrently; no retry may hide a failure of theirs. */
export const sideBySide = { concurrent: true, retry: 0 } as const;

/** Repeats a check for as long as several polls of a client take. */
export const soon = <T>(check: () => T | Promise<T>): Promise<T> => eventually(check, 120_000, 250);

export async function startFleet(options: TestStackOptions = {}): Promise<Fleet> {
  const stack = await startTestStack(options);
  const admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  const gatewayToken = "the-key-of-the-gateway";
  try {
    await eventually(() => admin.configure("pollingTime", `00:00:${POLL_SECONDS}`), 30_000);
    await admin.configure("authentication.gatewaytoken.key", gatewayToken);
    await admin.configure("authentication.gatewaytoken.enabled", true);
    await admin.configure("authentication.targettoken.enabled", true);
    await settingsHold({ stack, admin, gatewayToken });
    return { stack, admin, gatewayToken };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** Waits until the settings are known: a client that is denied at its first poll comes back half a minute later. */
async function settingsHold({ stack, admin, gatewayToken }: Fleet): Promise<void> {
  const { controllerId, securityToken } = await admin.createTarget();
  await eventually(async () => {
    for (const credential of [{ token: securityToken }, { gatewayToken }]) {
      const { config } = await createDevice({ baseUrl: stack.baseUrl, controllerId, ...credential }).poll();
      if (config.polling.sleep !== `00:00:${POLL_SECONDS}`) throw new Error(`devices are to sleep ${config.polling.sleep}`);
    }
  });
}
