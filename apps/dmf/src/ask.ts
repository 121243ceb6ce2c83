import { backOff, pause } from "@harrier/jobs";
import type { Client } from "@harrier/rpc";
import { callAs, type Tenant } from "./incoming/handle.ts";

const retries = { firstMs: 100, maxMs: 5_000 };

export const ask = {
  /** Asks controller whose actions these are, for as long as the connection is there that wants to know; after that nobody needs the answer. */
  async things(
    controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "findThings">,
    tenant: Tenant,
    { ids, signal }: { ids: readonly number[]; signal: AbortSignal },
  ): Promise<ReadonlyMap<number, string>> {
    for (let attempts = 1; !signal.aborted; attempts += 1) {
      try {
        const { things } = await controller.findThings({ actionIds: [...ids] }, callAs(tenant));
        return new Map(things.map(({ actionId, controllerId }) => [actionId, controllerId]));
      } catch {
        await pause(backOff(attempts, retries), signal);
      }
    }
    return new Map();
  },
};
