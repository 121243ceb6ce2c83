import { setTimeout as sleep } from "node:timers/promises";
import { type ConfirmChannel, type ConsumeMessage, connect } from "amqplib";
import { DownloadWrong } from "./device/download.ts";
import { describe, type Http } from "./http.ts";
import { chance } from "./random.ts";
import type { FinalReport } from "./report.ts";
import { fetchModules, type ThingModule } from "./thing-download.ts";

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
  /** With it they fetch what they shall install and check its hashes, as devices over HTTP do, each file in so many pieces. */
  readonly downloads?: { readonly http: Http; readonly pieces: number };
  /** Exchange and queue go when the things stop, or ten minutes after they were killed: nobody reads what would be sent there. */
  readonly temporary?: boolean;
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
  readonly bytes: number;
  /** The last reports of updates that the broker has taken. */
  readonly finals: readonly FinalReport[];
  /** Files that were not what was promised. */
  readonly violations: readonly string[];
}

export interface Things {
  report(): ThingsReport;
  /** Ends them when the broker has taken what they have said, or after five seconds without it. */
  stop(): Promise<ThingsReport>;
}

/** A message that the broker has to take, and that is published again until it has. */
interface Pending {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly replyTo?: string;
  /** What it ends. */
  readonly final?: FinalReport;
}

interface Told {
  readonly actionId: number;
  readonly thingId: string;
  readonly softwareModules?: readonly ThingModule[];
  /** The token that the addresses of the files are for. */
  readonly token?: string;
}

const usual = {
  tenant: "DEFAULT",
  exchange: "simulator.replies",
  reports: ["DOWNLOAD", "DOWNLOADED", "FINISHED"],
  fail: 0,
  seed: 1,
  temporary: false,
};
const prefetch = 500;
const reconnectMs = 200;
const drainMs = 5_000;
const leftMs = 600_000;

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
  readonly #options: Omit<Required<ThingsOptions>, "downloads"> & Pick<ThingsOptions, "downloads">;
  readonly #stopping = new AbortController();
  readonly #finals: FinalReport[] = [];
  readonly #violations: string[] = [];
  readonly #done = new Set<number>();
  readonly #pending = new Set<Pending>();
  readonly #counts = { got: 0, sent: 0, failed: 0, reconnects: 0, bytes: 0 };
  #open: { channel: ConfirmChannel; close(): Promise<unknown> } | undefined;

  constructor(options: ThingsOptions) {
    this.#options = { ...usual, ...options };
  }

  async start(): Promise<void> {
    await this.#connect();
    const { ids, exchange } = this.#options;
    for (const thingId of ids) this.#send({ headers: { type: "THING_CREATED", thingId }, replyTo: exchange });
  }

  report(): ThingsReport {
    return {
      things: this.#options.ids.length,
      finished: this.#done.size,
      ...this.#counts,
      finals: [...this.#finals],
      violations: [...this.#violations],
    };
  }

  async stop(): Promise<ThingsReport> {
    this.#stopping.abort();
    const open = this.#open;
    if (open !== undefined) {
      const { channel } = open;
      const drained = channel.waitForConfirms().then(() => (this.#options.temporary ? channel.deleteQueue(this.#queue) : undefined));
      await Promise.race([drained.catch(() => undefined), sleep(drainMs, undefined, { ref: false })]);
      await open.close();
    }
    return this.report();
  }

  async #connect(): Promise<void> {
    const { url, exchange, temporary } = this.#options;
    const connection = await connect(url);
    const close = () => connection.close().catch(() => undefined);
    connection.on("error", () => undefined);
    connection.on("close", () => {
      this.#open = undefined;
      void this.#reconnect();
    });
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => void close());
    const queue = this.#queue;
    await channel.assertExchange(exchange, "fanout", { durable: true, autoDelete: temporary });
    await channel.assertQueue(queue, { durable: true, ...(temporary ? { expires: leftMs } : {}) });
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

  get #queue(): string {
    return `${this.#options.exchange}.queue`;
  }

  async #reconnect(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
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
        if (error || !this.#pending.delete(message)) return;
        this.#counts.sent += 1;
        if (message.final !== undefined) this.#finals.push({ ...message.final, at: Date.now() });
      });
    } catch {
      // the channel has ended, and the next one publishes it
    }
  }

  #obey({ content, properties }: ConsumeMessage): void {
    const { topic, thingId = "" } = (properties.headers ?? {}) as { topic?: string; thingId?: string };
    const body: unknown = content.length === 0 || topic === undefined ? undefined : JSON.parse(content.toString());
    if (topic !== "MULTI_ACTION") {
      this.#do(topic, thingId, body);
      return;
    }
    const items = body as readonly { readonly topic: string; readonly action: unknown }[];
    // cancellations first; the others are in the order of their weights already
    const isCancel = (item: { topic: string }): number => Number(item.topic === "CANCEL_DOWNLOAD");
    for (const item of items.toSorted((one, other) => isCancel(other) - isCancel(one))) this.#do(item.topic, thingId, item.action);
  }

  #do(topic: string | undefined, thingId: string, body: unknown): void {
    const {
      actionId = 0,
      targets = [],
      targetSecurityToken,
      softwareModules = [],
    } = (body ?? {}) as {
      actionId?: number;
      targets?: readonly { actionId: number; controllerId: string; targetSecurityToken?: string }[];
      targetSecurityToken?: string;
      softwareModules?: readonly ThingModule[];
    };
    // the addresses in a batch are those of its first thing
    const token = targetSecurityToken ?? targets[0]?.targetSecurityToken ?? "";
    switch (topic) {
      case "DOWNLOAD_AND_INSTALL":
      case "DOWNLOAD":
        void this.#update(topic, { actionId, thingId, softwareModules, token });
        break;
      case "BATCH_DOWNLOAD_AND_INSTALL":
      case "BATCH_DOWNLOAD":
        for (const one of targets) {
          const told = { actionId: one.actionId, thingId: one.controllerId, softwareModules, token };
          void this.#update(topic.slice("BATCH_".length), told);
        }
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
  async #update(topic: string, told: Told): Promise<void> {
    const { actionId, thingId } = told;
    if (this.#done.has(actionId)) return;
    this.#done.add(actionId);
    const { reports, fail, seed } = this.#options;
    const said = topic === "DOWNLOAD" ? ["DOWNLOAD", "DOWNLOADED"] : reports;
    const fetched = await this.#fetch(told);
    if (this.#stopping.signal.aborted) return;
    const fails = !fetched || chance(seed, thingId, "fail") < fail;
    const outcome = fails ? "failure" : "success";
    const statuses = fails ? [...said.slice(0, -1), "ERROR"] : said;
    for (const status of statuses.slice(0, -1)) this.#tell(actionId, status);
    this.#tell(actionId, statuses.at(-1) ?? "FINISHED", { controllerId: thingId, actionId: String(actionId), outcome, at: 0 });
    if (fails) this.#counts.failed += 1;
  }

  /** Answers whether the thing has its files, where it fetches any. */
  async #fetch({ thingId, softwareModules = [], token = "" }: Told): Promise<boolean> {
    const { downloads } = this.#options;
    if (downloads === undefined) return true;
    try {
      const onBytes = (n: number): void => {
        this.#counts.bytes += n;
      };
      await fetchModules(softwareModules, { ...downloads, token, onBytes, signal: this.#stopping.signal });
      return true;
    } catch (error) {
      if (error instanceof DownloadWrong) this.#violations.push(`${thingId}: ${describe(error)}`);
      return false;
    }
  }

  #tell(actionId: number, actionStatus: string, final?: FinalReport): void {
    const headers = { type: "EVENT", topic: "UPDATE_ACTION_STATUS" };
    const body = { actionId, actionStatus, message: [`the thing says ${actionStatus}`] };
    this.#send({ headers, body, ...(final === undefined ? {} : { final }) });
  }
}
