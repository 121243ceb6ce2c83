import { backOff, pause } from "@harrier/jobs";
import type { Client } from "@harrier/rpc";
import { callAs, type Tenant } from "./handle.ts";

const retries = { firstMs: 100, maxMs: 5_000 };

interface Wanted {
  readonly ids: readonly number[];
  /** Aborts with the connection that wants to know; after that nobody needs the answer. */
  readonly signal: AbortSignal;
  readonly log: { warn(fields: object, message: string): void };
}

/** controller is away for a moment now and then; whoever waits for longer wants to know why. */
const loggedAttempt = 8;

/** Asks controller whose actions these are, and again for as long as it cannot say so. */
export async function findThings(
  controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "findThings">,
  tenant: Tenant,
  { ids, signal, log }: Wanted,
): Promise<ReadonlyMap<number, string>> {
  for (let attempts = 1; !signal.aborted; attempts += 1) {
    try {
      const { things } = await controller.findThings({ actionIds: [...ids] }, callAs(tenant));
      return new Map(things.map(({ actionId, controllerId }) => [actionId, controllerId]));
    } catch (error) {
      if (attempts === loggedAttempt)
        log.warn({ err: error, tenant: tenant.tenant }, "controller does not say whose actions these are; the tenant's messages wait");
      await pause(backOff(attempts, retries), signal);
    }
  }
  return new Map();
}
