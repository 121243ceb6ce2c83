import { randomUUID } from "node:crypto";
import { type Client, servicePrincipal } from "@harrier/rpc";
import { LinesPerMinute } from "@harrier/service";
import type { ConsumeMessage } from "amqplib";
import pLimit from "p-limit";
import { Awake } from "./broker/awake.ts";
import { type Settle, VirtualHost, type VirtualHostOptions } from "./broker/virtual-host.ts";
import { findThings } from "./incoming/find-things.ts";
import { handleMessage, type Tenant } from "./incoming/handle.ts";
import { InOrder } from "./incoming/in-order.ts";
import { type Incoming, parseMessage, type RefusalKind, RefusedMessage } from "./incoming/parse-message.ts";

type Controller = Client<"harrier.controller.v1.DeviceMessagesService">;

export interface TenantsDeps {
  controller: Controller;
  amqpUrl: string;
  log: VirtualHostOptions["log"];
  /** Keeps why messages of a tenant were refused. */
  refused(tenantId: number, refusal: RefusedMessage): void;
  /** Counts messages by what became of them. */
  count(outcome: "handled" | RefusalKind): void;
  fault(name: "dmf.message.before-handled" | "dmf.message.after-handled" | "dmf.message.after-ack"): void | Promise<void>;
}

/** A tenant whose things may speak, with its connection. */
interface Connected {
  readonly tenant: Tenant;
  readonly host: VirtualHost;
}

/** A broker that is back is asked for so many connections at a time: thousands at once would all wait for longer than each of them may. */
const connectingAtATime = 32;
/** Refusals are logged in full up to so many a minute and replica, of which one tenant has a part. */
const logged = { each: 10, all: 60 };

/** The tenants that have enabled DMF, each with a connection to its virtual host. */
export class Tenants {
  readonly #deps: TenantsDeps;
  readonly #connected = new Map<string, Connected>();
  /** A process that has stood still gives its connections up: what it was given may be another one's by now. */
  readonly #awake = new Awake(() => {
    for (const { host } of this.#connected.values()) host.giveUp();
  });
  readonly #connecting = pLimit(connectingAtATime);
  readonly #lines = new LinesPerMinute(logged);
  #known = false;

  constructor(deps: TenantsDeps) {
    this.#deps = deps;
  }

  hostOf(vhost: string): VirtualHost | undefined {
    return this.#connected.get(vhost)?.host;
  }

  /** Whether controller has said which tenants there are. */
  get known(): boolean {
    return this.#known;
  }

  /** How many virtual hosts are connected, how many of a full broker take nothing, and how many are away. */
  counts(): Record<"connected" | "blocked" | "away", number> {
    const counts = { connected: 0, blocked: 0, away: 0 };
    for (const { host } of this.#connected.values()) counts[host.isConnected ? (host.isBlocked ? "blocked" : "connected") : "away"] += 1;
    return counts;
  }

  /** The tenants whose virtual host is connected and takes messages at this moment. */
  connected(): { tenantId: number; vhost: string }[] {
    return [...this.#connected.values()].flatMap(({ tenant: { tenantId, vhost }, host }) =>
      host.isConnected && !host.isBlocked ? [{ tenantId, vhost }] : [],
    );
  }

  /** Whether there are virtual hosts to be connected to, and none takes messages. */
  cutOff(): boolean {
    return this.#connected.size > 0 && this.connected().length === 0;
  }

  /** Connects to the virtual hosts of tenants that have been enabled, and ends the connections of those that are not any more. */
  async refresh(): Promise<void> {
    const call = { principal: servicePrincipal("dmf"), rid: randomUUID(), deadline: Date.now() + 5_000 };
    const { tenants } = await this.#deps.controller.listMessagingTenants({}, call);
    this.#known = true;
    const wanted = new Map(tenants.map((tenant) => [tenant.vhost, tenant]));
    for (const [vhost, { host }] of this.#connected) {
      if (wanted.has(vhost)) continue;
      this.#connected.delete(vhost);
      void host.stop();
    }
    for (const [vhost, tenant] of wanted) {
      if (this.#connected.has(vhost)) continue;
      const connected = this.#connect(tenant);
      this.#connected.set(vhost, connected);
      connected.host.start();
    }
  }

  async stop(): Promise<void> {
    this.#awake.stop();
    await Promise.all([...this.#connected.values()].map(({ host }) => host.stop()));
    this.#connected.clear();
  }

  #connect(tenant: Tenant): Connected {
    const { controller, amqpUrl: url, log } = this.#deps;
    // each connection sorts what it gets by itself: what an ended one has left comes again with the next one
    let sorter: { signal: AbortSignal; inOrder: InOrder } | undefined;
    const host: VirtualHost = new VirtualHost({
      url,
      vhost: tenant.vhost,
      connecting: this.#connecting,
      log,
      onMessage: (message, settle, signal) => {
        if (sorter?.signal !== signal)
          sorter = { signal, inOrder: new InOrder((ids) => findThings(controller, tenant, { ids, signal, log })) };
        this.#take({ tenant, host, inOrder: sorter.inOrder, signal }, message, settle);
      },
    });
    return { tenant, host };
  }

  #take(at: { tenant: Tenant; host: VirtualHost; inOrder: InOrder; signal: AbortSignal }, message: ConsumeMessage, settle: Settle): void {
    const { tenant, inOrder } = at;
    let incoming: Incoming;
    try {
      incoming = parseMessage(message, tenant.tenant);
    } catch (error) {
      this.#refuse(tenant, error, settle);
      return;
    }
    const again = message.fields.redelivered;
    const of = incoming.kind === "status" ? { actionId: incoming.actionId } : { thingId: "thingId" in incoming ? incoming.thingId : "" };
    inOrder.add({ of, work: (thingId) => this.#handle(at, { incoming, thingId, again, settle }) });
  }

  async #handle(
    { tenant, host, signal }: { tenant: Tenant; host: VirtualHost; signal: AbortSignal },
    work: { incoming: Incoming; thingId: string | undefined; again: boolean; settle: Settle },
  ): Promise<void> {
    this.#awake.check();
    if (signal.aborted) return;
    const { controller, count, fault } = this.#deps;
    // an answer that the broker does not take must not bring its ping back
    if (work.incoming.kind === "ping") work.settle("done");
    const answerPing = async (exchange: string, correlationId: string): Promise<void> => {
      const headers = { type: "PING_RESPONSE", tenant: tenant.tenant };
      const options = { contentType: "text/plain", correlationId, headers };
      await host.publish([{ exchange, content: Buffer.from(String(Date.now())), options }]);
    };
    try {
      await fault("dmf.message.before-handled");
      await handleMessage({ controller, answerPing }, { tenant, ...work, signal });
      await fault("dmf.message.after-handled");
      if (work.incoming.kind !== "ping") work.settle("done");
      count("handled");
      await fault("dmf.message.after-ack");
    } catch (error) {
      if (!signal.aborted && work.incoming.kind !== "ping") this.#refuse(tenant, error, work.settle);
    }
  }

  #refuse(tenant: Tenant, error: unknown, settle: Settle): void {
    const refused = error instanceof RefusedMessage ? error : new RefusedMessage("failed", "the message could not be handled", error);
    this.#deps.count(refused.kind);
    this.#deps.refused(tenant.tenantId, refused);
    if (this.#lines.allows(tenant.tenantId)) {
      const { kind, message: reason, cause } = refused;
      const failure = cause === undefined ? {} : { err: cause };
      this.#deps.log.warn({ tenant: tenant.tenant, kind, reason, ...failure }, "a message of a thing was refused");
    }
    settle("refused");
  }
}
