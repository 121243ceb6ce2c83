import { setTimeout as sleep } from "node:timers/promises";
import { type ConfirmChannel, type ConsumeMessage, connect } from "amqplib";
import { chance } from "./random.ts";

export interface ThingsOptions {
  /** The address of the tenant's virtual host, with its user: `amqpUri` of the answer that enabled DMF. */
  readonly url: string;
  readonly ids: readonly string[];
  /** The default is DEFAULT. */
  readonly tenant?: string;
  /** The exchange that the things are answered at. */
  readonly exchange?: string;
  /** What is reported of an update that succeeds, in this order. */
  readonly reports?: readonly string[];
  /** The share of updates that end with ERROR, 0 by default; which ones depends on the seed only. */
  readonly fail?: number;
  readonly seed?: number;
}

/** What the things have done so far. */
export interface ThingsReport {
  readonly things: number;
  /** Messages that they got, repetitions included. */
  readonly got: number;
  /** Messages of theirs that the broker has taken. */
  readonly sent: number;
  /** Updates that they have finished, with success or not. */
  readonly finished: number;
  readonly failed: number;
  /** How often they had to connect again. */
  readonly reconnects: number;
}

export interface Things {
  report(): ThingsReport;
  stop(): Promise<ThingsReport>;
}

/** A message that the broker has to take, and that is published again until it has. */
interface Pending {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly replyTo?: string;
}

interface Told {
  readonly actionId: number;
  readonly thingId: string;
}

const usual = { tenant: "DEFAULT", exchange: "simulator.replies", reports: ["DOWNLOAD", "DOWNLOADED", "FINISHED"], fail: 0, seed: 1 };
const prefetch = 500;
const reconnectMs = 200;

/**
 * Starts things behind one backend that speaks DMF, as such backends are run in earnest: persistent messages with confirms, and what was not confirmed
 * is published again after a break. Every thing registers, and does what it is told once. They run until they are stopped.
 */
export async function runThings(options: ThingsOptions): Promise<Things> {
  const things = new Backend(options);
  await things.start();
  return things;
}

class Backend implements Things {
  readonly #options: Required<ThingsOptions>;
  readonly #done = new Set<number>();
  readonly #pending = new Set<Pending>();
  readonly #counts = { got: 0, sent: 0, failed: 0, reconnects: 0 };
  #open: { channel: ConfirmChannel; close(): Promise<unknown> } | undefined;
  #stopped = false;

  constructor(options: ThingsOptions) {
    this.#options = { ...usual, ...options };
  }

  async start(): Promise<void> {
    await this.#connect();
    const { ids, exchange } = this.#options;
    for (const thingId of ids) this.#send({ headers: { type: "THING_CREATED", thingId }, replyTo: exchange });
  }

  report(): ThingsReport {
    return { things: this.#options.ids.length, finished: this.#done.size, ...this.#counts };
  }

  async stop(): Promise<ThingsReport> {
    this.#stopped = true;
    await this.#open?.close();
    return this.report();
  }

  async #connect(): Promise<void> {
    const { url, exchange } = this.#options;
    const connection = await connect(url);
    const close = () => connection.close().catch(() => undefined);
    connection.on("error", () => undefined);
    connection.on("close", () => {
      this.#open = undefined;
      void this.#reconnect();
    });
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => void close());
    const queue = `${exchange}.queue`;
    await channel.assertExchange(exchange, "fanout", { durable: true });
    await channel.assertQueue(queue, { durable: true });
    await channel.bindQueue(queue, exchange, "");
    await channel.prefetch(prefetch);
    this.#open = { channel, close };
    for (const message of this.#pending) this.#publish(message);
    await channel.consume(queue, (message) => {
      if (message === null) return;
      this.#counts.got += 1;
      this.#obey(message);
      channel.ack(message);
    });
  }

  async #reconnect(): Promise<void> {
    while (!this.#stopped) {
      try {
        this.#counts.reconnects += 1;
        return await this.#connect();
      } catch {
        await sleep(reconnectMs);
      }
    }
  }

  #send(message: Pending): void {
    this.#pending.add(message);
    this.#publish(message);
  }

  #publish(message: Pending): void {
    const { headers, body, replyTo } = message;
    const content = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
    const common = { contentType: "application/json", persistent: true, headers: { tenant: this.#options.tenant, ...headers } };
    try {
      this.#open?.channel.publish("dmf.exchange", "", content, replyTo === undefined ? common : { ...common, replyTo }, (error) => {
        if (error) return;
        this.#counts.sent += 1;
        this.#pending.delete(message);
      });
    } catch {
      // the channel has ended, and the next one publishes it
    }
  }

  #obey({ content, properties }: ConsumeMessage): void {
    const { topic, thingId = "" } = (properties.headers ?? {}) as { topic?: string; thingId?: string };
    const body = content.length === 0 || topic === undefined ? undefined : (JSON.parse(content.toString()) as Record<string, unknown>);
    const { actionId = 0, targets = [] } = (body ?? {}) as {
      actionId?: number;
      targets?: readonly { actionId: number; controllerId: string }[];
    };
    switch (topic) {
      case "DOWNLOAD_AND_INSTALL":
      case "DOWNLOAD":
        this.#update(topic, { actionId, thingId });
        break;
      case "BATCH_DOWNLOAD_AND_INSTALL":
      case "BATCH_DOWNLOAD":
        for (const one of targets) this.#update(topic.slice("BATCH_".length), { actionId: one.actionId, thingId: one.controllerId });
        break;
      case "CONFIRM":
        this.#tell(actionId, "CONFIRMED");
        break;
      case "CANCEL_DOWNLOAD":
        this.#tell(actionId, "CANCELED");
        break;
      case "REQUEST_ATTRIBUTES_UPDATE":
        this.#send({
          headers: { type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId },
          body: { attributes: { simulated: "true" }, mode: "MERGE" },
        });
        break;
    }
  }

  /** Repeated instructions are none: the first one was obeyed. */
  #update(topic: string, { actionId, thingId }: Told): void {
    if (this.#done.has(actionId)) return;
    this.#done.add(actionId);
    const { reports, fail, seed } = this.#options;
    const fails = chance(seed, thingId, "fail") < fail;
    const said = topic === "DOWNLOAD" ? ["DOWNLOAD", "DOWNLOADED"] : reports;
    for (const status of fails ? [...said.slice(0, -1), "ERROR"] : said) this.#tell(actionId, status);
    if (fails) this.#counts.failed += 1;
  }

  #tell(actionId: number, actionStatus: string): void {
    const headers = { type: "EVENT", topic: "UPDATE_ACTION_STATUS" };
    this.#send({ headers, body: { actionId, actionStatus, message: [`the thing says ${actionStatus}`] } });
  }
}
