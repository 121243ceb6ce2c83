import { randomUUID } from "node:crypto";
import { backOff } from "@harrier/jobs";
import { type Client, type DeviceMessage, servicePrincipal } from "@harrier/rpc";
import type { Outgoing, VirtualHost } from "../broker/virtual-host.ts";

export interface SendDeps {
  controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "readDeviceMessages">;
  hostOf(vhost: string): VirtualHost | undefined;
  /** The tenants whose virtual host is connected. */
  connected(): readonly { readonly tenantId: number; readonly vhost: string }[];
  baseUrl: string;
  count(outcome: "sent" | "dropped" | "postponed", n: number): void;
  log: { warn(fields: object, message: string): void };
  fault(name: "dmf.publish.before-confirm" | "dmf.publish.after-confirm"): void | Promise<void>;
}

/** What is answered to this replica is published within that time or not at all: the lease of controller is longer. */
const withinMs = 12_000;

/**
 * A virtual host that takes nothing for so long, while others do, is passed over: its tenant must not stop the others. It rests, ever longer, and then its
 * things are told again. Where no virtual host takes anything, all wait.
 */
const hostTimeoutMs = 10_000;
const rests = { firstMs: 30_000, maxMs: 600_000 };

interface Failing {
  readonly since: number;
  /** How often it has been passed over. */
  readonly times: number;
  /** It is not tried before this time (epoch ms). */
  readonly until: number;
}

/** What failed rounds have left: virtual hosts that take nothing, and what others have got already. */
interface Unfinished {
  readonly failing: Map<string, Failing>;
  readonly sent: Set<string>;
  /** Tenants whose messages were passed over. */
  readonly dropped: Set<number>;
}

/**
 * Makes the round of the job that sends messages to things: it reads the next ones from controller, publishes them, and says so with the next call. Of
 * all replicas one gets any. Whatever fails, the same messages are read again, and those go out that have not.
 */
export function createSender(deps: SendDeps): () => Promise<boolean> {
  const holder = randomUUID();
  let confirmed = "";
  const unfinished: Unfinished = { failing: new Map(), sent: new Set(), dropped: new Set() };
  return async () => {
    const deadline = Date.now() + withinMs;
    const call = { principal: servicePrincipal("dmf"), rid: randomUUID(), deadline };
    const said = confirmed;
    // what has not been confirmed yet is dropped again, or sent
    if (said === "") unfinished.dropped.clear();
    const dropped = [...unfinished.dropped];
    const connected = deps
      .connected()
      .filter(({ vhost }) => (unfinished.failing.get(vhost)?.until ?? 0) <= Date.now())
      .map(({ tenantId }) => tenantId);
    const { leading, messages, position, more } = await deps.controller.readDeviceMessages(
      { holder, confirmed: said, baseUrl: deps.baseUrl, dropped, connected },
      call,
    );
    confirmed = "";
    unfinished.dropped.clear();
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
  const { failing, sent, dropped } = unfinished;
  const byHost = Map.groupBy(
    messages.filter((message) => !sent.has(nameOf(message))),
    ({ vhost }) => vhost,
  );
  await deps.fault("dmf.publish.before-confirm");
  const failed: unknown[] = [];
  await Promise.all(
    [...byHost].map(async ([vhost, all]) => {
      const { since = Date.now(), times = 0, until = 0 } = failing.get(vhost) ?? {};
      const passOver = (): void => {
        deps.count("postponed", all.length);
        for (const { tenantId } of all) dropped.add(tenantId);
      };
      if (until > Date.now()) return passOver();
      try {
        await publishTo(deps, vhost, { all, deadline });
        failing.delete(vhost);
        for (const message of all) sent.add(nameOf(message));
      } catch (error) {
        const othersTake = deps.connected().some((other) => other.vhost !== vhost);
        if (times === 0 && (Date.now() - since < hostTimeoutMs || !othersTake)) {
          failing.set(vhost, { since, times, until });
          failed.push(error);
          return;
        }
        failing.set(vhost, { since, times: times + 1, until: Date.now() + backOff(times + 1, rests) });
        passOver();
        deps.log.warn(
          { err: error, vhost, messages: all.length },
          "a virtual host takes no messages; its things are told again when it does",
        );
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
