import { randomUUID } from "node:crypto";
import { type Client, type DeviceMessage, servicePrincipal } from "@harrier/rpc";
import type { Outgoing, VirtualHost } from "../broker/virtual-host.ts";

export interface SendDeps {
  controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "readDeviceMessages">;
  hostOf(vhost: string): VirtualHost | undefined;
  baseUrl: string;
  count(outcome: "sent" | "dropped", n: number): void;
  log: { warn(fields: object, message: string): void };
  fault(name: "dmf.publish.before-confirm" | "dmf.publish.after-confirm"): void | Promise<void>;
}

/** What is answered to this replica is published within that time or not at all: the lease of controller is longer. */
const withinMs = 12_000;

/** A virtual host that takes nothing for so long is passed over: its tenant must not stop the others. Its things are told again when they register. */
const hostTimeoutMs = 60_000;

/** What failed rounds have left: virtual hosts that take nothing, and what others have got already. */
interface Unfinished {
  readonly failingSince: Map<string, number>;
  readonly sent: Set<string>;
}

/**
 * Makes the round of the job that sends messages to things: it reads the next ones from controller, publishes them, and says so with the next call. Of
 * all replicas one gets any. Whatever fails, the same messages are read again, and those go out that have not.
 */
export function createSender(deps: SendDeps): () => Promise<boolean> {
  const holder = randomUUID();
  let confirmed = "";
  const unfinished: Unfinished = { failingSince: new Map(), sent: new Set() };
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
    await publish(deps, messages, { deadline, unfinished });
    unfinished.sent.clear();
    confirmed = position;
    return more || messages.length > 0;
  };
}

async function publish(
  deps: SendDeps,
  messages: readonly DeviceMessage[],
  { deadline, unfinished }: { deadline: number; unfinished: Unfinished },
): Promise<void> {
  if (messages.length === 0) return;
  const { failingSince, sent } = unfinished;
  const byHost = Map.groupBy(
    messages.filter((message) => !sent.has(nameOf(message))),
    ({ vhost }) => vhost,
  );
  await deps.fault("dmf.publish.before-confirm");
  const failed: unknown[] = [];
  await Promise.all(
    [...byHost].map(async ([vhost, all]) => {
      try {
        await publishTo(deps, vhost, { all, deadline });
        failingSince.delete(vhost);
        for (const message of all) sent.add(nameOf(message));
      } catch (error) {
        const since = failingSince.get(vhost) ?? Date.now();
        failingSince.set(vhost, since);
        if (Date.now() - since < hostTimeoutMs) return void failed.push(error);
        deps.count("dropped", all.length);
        deps.log.warn({ err: error, vhost, messages: all.length }, "messages to things of a virtual host that takes none were dropped");
      }
    }),
  );
  await deps.fault("dmf.publish.after-confirm");
  if (failed.length > 0) throw failed[0];
}

async function publishTo(
  deps: SendDeps,
  vhost: string,
  { all, deadline }: { all: readonly DeviceMessage[]; deadline: number },
): Promise<void> {
  const host = deps.hostOf(vhost);
  // the tenant was enabled a moment ago, or the broker is away
  if (host === undefined) throw new Error(`virtual host ${vhost} is not known yet`);
  let dropped = 0;
  const onDropped = (): void => {
    dropped += 1;
  };
  await host.publish(all.map(messageOf), onDropped, deadline);
  deps.count("dropped", dropped);
  deps.count("sent", all.length - dropped);
}

/** The same text is the same message: what it says was true both times. */
const nameOf = ({ vhost, exchange, controllerId, type, topic, body }: DeviceMessage): string =>
  JSON.stringify([vhost, exchange, controllerId, type, topic, body]);

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
