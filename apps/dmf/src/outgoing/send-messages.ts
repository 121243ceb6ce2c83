import { randomUUID } from "node:crypto";
import { backOff } from "@harrier/jobs";
import { type Client, type DeviceMessage, type ReadDeviceMessagesRequest, servicePrincipal } from "@harrier/rpc";
import type { Outgoing } from "../broker/publisher.ts";
import type { VirtualHost } from "../broker/virtual-host.ts";
import { FullExchanges } from "./full-exchanges.ts";
import { SlowHosts } from "./slow-hosts.ts";

export interface SendDeps {
  controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "readDeviceMessages">;
  hostOf(vhost: string): VirtualHost | undefined;
  /** The tenants whose virtual host is connected. */
  connected(): readonly { readonly tenantId: number; readonly vhost: string }[];
  /** Whether there are tenants with DMF, and the virtual host of none of them is connected. */
  cutOff(): boolean;
  baseUrl: string;
  count(outcome: "sent" | "dropped" | "postponed", n: number): void;
  /** There is nothing more to be sent at this moment. */
  caughtUp(): void;
  log: { warn(fields: object, message: string): void };
  fault(name: "dmf.publish.before-publish" | "dmf.publish.before-confirm" | "dmf.publish.after-confirm"): void | Promise<void>;
}

/** What is answered to this replica is published within that time or not at all: the lease of controller is longer. */
const withinMs = 12_000;

/**
 * A virtual host that takes nothing for so long, while others do, is passed over: its tenant must not stop the others. It rests, ever longer, and then its
 * things are told again. Where no virtual host takes anything, all wait. One that now and then takes something is passed over at once, and rests ever
 * longer all the same, until nothing has failed for as long as the longest rest: else its tenant would stop the others again and again.
 */
const hostTimeoutMs = 10_000;
const rests = { firstMs: 30_000, maxMs: 600_000 };

/** A leading replica that has nothing taken for so long, by any virtual host, does not ask for longer than the lease lasts: perhaps another one can. */
const yieldAfterMs = 20_000;
const yieldMs = 20_000;

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
  readonly full: FullExchanges;
  readonly slow: SlowHosts;
  readonly sent: Set<string>;
  /** Tenants whose messages were passed over. */
  readonly dropped: Set<number>;
  /** Exchanges whose messages were passed over, where it was not the whole tenant. */
  readonly missed: Map<string, TenantExchange>;
}

type TenantExchange = ReadDeviceMessagesRequest["full"][number];

/**
 * Makes the round of the job that sends messages to things: it reads the next ones from controller, publishes them, and says so with the next call. Of
 * all replicas one gets any. Whatever fails, the same messages are read again, and those go out that have not.
 */
export function createSender(deps: SendDeps): () => Promise<boolean> {
  const holder = randomUUID();
  let confirmed = "";
  const unfinished: Unfinished = {
    failing: new Map(),
    full: new FullExchanges(),
    slow: new SlowHosts(),
    sent: new Set(),
    dropped: new Set(),
    missed: new Map(),
  };
  const { failing, full, missed, sent } = unfinished;
  let failsSince: number | undefined;
  let yieldsUntil = 0;
  return async () => {
    const now = Date.now();
    // who cannot publish must not keep the lease: it lapses, and a replica that can takes it; what that one sends is not known here
    if (deps.cutOff() || now < yieldsUntil) {
      sent.clear();
      failsSince = undefined;
      return false;
    }
    const deadline = now + withinMs;
    const call = { principal: servicePrincipal("dmf"), rid: randomUUID(), deadline };
    const said = confirmed;
    // what has not been confirmed yet is dropped again, or sent
    if (said === "") forgetPassedOver(unfinished);
    full.forgetQuiet(now);
    for (const [vhost, { times, until }] of failing) if (times > 0 && until < now - rests.maxMs) failing.delete(vhost);
    const takes = (vhost: string): boolean => (failing.get(vhost)?.until ?? 0) <= now;
    const connected = deps
      .connected()
      .filter(({ vhost }) => takes(vhost))
      .map(({ tenantId }) => tenantId);
    const left = { dropped: [...unfinished.dropped], connected, full: [...missed.values()], resting: full.resting(now) };
    const request = { holder, confirmed: said, baseUrl: deps.baseUrl, ...left };
    const { leading, messages, position, more } = await deps.controller.readDeviceMessages(request, call);
    confirmed = "";
    forgetPassedOver(unfinished);
    if (!leading) {
      sent.clear();
      failsSince = undefined;
      return false;
    }
    try {
      await publish(deps, messages, { deadline, unfinished });
      failsSince = undefined;
    } catch (error) {
      failsSince ??= now;
      if (Date.now() - failsSince >= yieldAfterMs) yieldsUntil = Date.now() + yieldMs;
      throw error;
    }
    sent.clear();
    confirmed = position;
    if (!more) deps.caughtUp();
    return more || messages.length > 0;
  };
}

function forgetPassedOver({ dropped, missed }: Unfinished): void {
  dropped.clear();
  missed.clear();
}

async function publish(
  deps: SendDeps,
  messages: readonly DeviceMessage[],
  { deadline, unfinished }: { deadline: number; unfinished: Unfinished },
): Promise<void> {
  if (messages.length === 0) return;
  const { failing, sent, slow } = unfinished;
  const took = new Map<string, number>();
  const byHost = Map.groupBy(
    messages.filter((message) => !sent.has(nameOf(message))),
    ({ vhost }) => vhost,
  );
  await deps.fault("dmf.publish.before-publish");
  const failed: unknown[] = [];
  await Promise.all(
    [...byHost].map(async ([vhost, all]) => {
      const { since = Date.now(), times = 0, until = 0 } = failing.get(vhost) ?? {};
      if (until > Date.now()) return passOver(deps, unfinished, all);
      const begun = Date.now();
      try {
        await publishTo(deps, vhost, { all, deadline, unfinished });
        took.set(vhost, Date.now() - begun);
        if (times === 0) failing.delete(vhost);
      } catch (error) {
        // a broker that is full takes nothing for anybody: all wait, and go on at once when it has room
        if (deps.hostOf(vhost)?.isBlocked === true) {
          failed.push(error);
          return;
        }
        const othersTake = deps.connected().some((other) => other.vhost !== vhost);
        if (times === 0 && (Date.now() - since < hostTimeoutMs || !othersTake)) {
          // the time counts while others take: after an outage of the broker one of them is the last to be connected again
          failing.set(vhost, { since: othersTake ? since : Date.now(), times, until });
          failed.push(error);
          return;
        }
        failing.set(vhost, { since, times: times + 1, until: Date.now() + backOff(times + 1, rests) });
        passOver(deps, unfinished, all);
        deps.log.warn(
          { err: error, vhost, messages: all.length },
          "a virtual host takes no messages; its things are told again when it does",
        );
      }
    }),
  );
  for (const vhost of slow.note(took, Date.now())) {
    const times = (failing.get(vhost)?.times ?? 0) + 1;
    failing.set(vhost, { since: Date.now(), times, until: Date.now() + backOff(times, rests) });
    deps.log.warn({ vhost }, "a virtual host takes messages so slowly that others wait; what comes next is told again later");
  }
  await deps.fault("dmf.publish.after-confirm");
  if (failed.length > 0) throw failed[0];
}

function passOver(deps: SendDeps, { dropped }: Unfinished, messages: readonly DeviceMessage[]): void {
  deps.count("postponed", messages.length);
  for (const { tenantId } of messages) dropped.add(tenantId);
}

async function publishTo(
  deps: SendDeps,
  vhost: string,
  { all, deadline, unfinished }: { all: readonly DeviceMessage[]; deadline: number; unfinished: Unfinished },
): Promise<void> {
  const host = deps.hostOf(vhost);
  // the tenant was enabled a moment ago, or the broker is away
  if (host === undefined) throw new Error(`virtual host ${vhost} is not known yet`);
  const { full, sent, missed } = unfinished;
  const now = Date.now();
  const { resting = [], due = [] } = Object.groupBy(all, (message) => (full.rests(message, now) ? "resting" : "due"));
  const outgoing = new Map(due.map((message) => [messageOf(message), message]));
  const { dropped, refused } = await host.publish([...outgoing.keys()], deadline, () => deps.fault("dmf.publish.before-confirm"));
  const later = refused.flatMap((one) => outgoing.get(one) ?? []);
  deps.count("dropped", dropped.length);
  deps.count("sent", due.length - dropped.length - later.length);
  for (const exchange of full.refuse(later, now))
    deps.log.warn({ vhost, exchange }, "a queue of a thing's client is full; its things are told again later");
  const { ofExchanges = [], ofTenant = [] } = Object.groupBy([...resting, ...later], (message) =>
    full.rests(message, now) ? "ofExchanges" : "ofTenant",
  );
  deps.count("postponed", ofExchanges.length);
  for (const { tenantId, exchange } of ofExchanges) missed.set(JSON.stringify([tenantId, exchange]), { tenantId, exchange });
  passOver(deps, unfinished, ofTenant);
  const notSent = new Set(later);
  for (const message of due) if (!notSent.has(message)) sent.add(nameOf(message));
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
