import { randomUUID } from "node:crypto";
import { type Client, type DeviceMessage, servicePrincipal } from "@harrier/rpc";
import type { Outgoing, VirtualHost } from "../broker/virtual-host.ts";

export interface SendDeps {
  controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "readDeviceMessages">;
  hostOf(vhost: string): VirtualHost | undefined;
  baseUrl: string;
  count(outcome: "sent" | "dropped", n: number): void;
  fault(name: "dmf.publish.before-confirm" | "dmf.publish.after-confirm"): void | Promise<void>;
}

/** What is answered to this replica is published within that time or not at all: the lease of controller is longer. */
const withinMs = 12_000;

/**
 * Makes the round of the job that sends messages to things: it reads the next ones from controller, publishes them, and says so with the next call. Of
 * all replicas one gets any. Whatever fails, the same messages are read again.
 */
export function createSender(deps: SendDeps): () => Promise<boolean> {
  const holder = randomUUID();
  let confirmed = "";
  return async () => {
    const deadline = Date.now() + withinMs;
    const call = { principal: servicePrincipal("dmf"), rid: randomUUID(), deadline };
    const said = confirmed;
    const { leading, messages, position, more } = await deps.controller.readDeviceMessages(
      { holder, confirmed: said, baseUrl: deps.baseUrl },
      call,
    );
    confirmed = "";
    if (!leading) return false;
    await publish(deps, messages, deadline);
    confirmed = position;
    return more || messages.length > 0;
  };
}

async function publish(deps: SendDeps, messages: readonly DeviceMessage[], deadline: number): Promise<void> {
  if (messages.length === 0) return;
  const byHost = Map.groupBy(messages, ({ vhost }) => vhost);
  await deps.fault("dmf.publish.before-confirm");
  await Promise.all(
    [...byHost].map(async ([vhost, all]) => {
      const host = deps.hostOf(vhost);
      // the tenant was enabled a moment ago, or the broker is away: the round fails, and comes again
      if (host === undefined) throw new Error(`virtual host ${vhost} is not known yet`);
      if (Date.now() > deadline) throw new Error("too late: another replica may send by now");
      let dropped = 0;
      await host.publish(all.map(messageOf), () => {
        dropped += 1;
      });
      deps.count("dropped", dropped);
      deps.count("sent", all.length - dropped);
    }),
  );
  await deps.fault("dmf.publish.after-confirm");
}

/** A message as hawkBit's clients expect it (contract rollouts.md §8.2). */
export function messageOf({ tenant, controllerId, exchange, type, topic, body }: DeviceMessage): Outgoing {
  const headers = {
    type,
    tenant,
    "content-type": "application/json",
    ...(controllerId === "" ? {} : { thingId: controllerId }),
    ...(topic === "" ? {} : { topic }),
  };
  const options = { headers, contentType: "application/json", correlationId: randomUUID(), persistent: true };
  return { exchange, content: Buffer.from(body), options };
}
