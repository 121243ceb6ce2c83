import { dmfBindings, dmfExchanges, dmfNames, dmfQueues } from "@harrier/contracts";
import { backOff, pause, within } from "@harrier/jobs";
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect, type Message, type Options } from "amqplib";
import { limitMessages, maxMessageBytes } from "./message-limit.ts";

export interface VirtualHostOptions {
  /** The broker's address with user and password, without a virtual host. */
  url: string;
  vhost: string;
  /** Takes a message; it settles it by itself, by `settle`, in any order. */
  onMessage: (message: ConsumeMessage, settle: Settle, signal: AbortSignal) => void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Ends a message: `done` acknowledges it, `refused` gives it to the dead letters. */
export type Settle = (end: "done" | "refused") => void;

/** A message that goes out. */
export interface Outgoing {
  readonly exchange: string;
  readonly content: Buffer;
  readonly options: Options.Publish;
}

/** What has become of messages that were published: these have not reached a queue. */
export interface Fates {
  /** Their client has removed their exchange. */
  readonly dropped: readonly Outgoing[];
  /** A queue behind their exchange is full. */
  readonly refused: readonly Outgoing[];
}

/** So many messages are handled at a time; the broker keeps the others. */
const prefetch = 64;
const connectMs = 10_000;
const heartbeatSeconds = 10;
const confirmMs = 8_000;
const retries = { firstMs: 200, maxMs: 5_000 };
const stopMs = 2_000;
/** The channel's answers about one exchange, by AMQP's codes: access refused, not found, locked, of another kind. Others are about the connection. */
const refusals: ReadonlySet<unknown> = new Set([403, 404, 405, 406]);
/** The existence of a reply exchange is looked up again after this time. */
const knownMs = 60_000;

interface Open {
  readonly connection: ChannelModel;
  readonly publisher: ConfirmChannel;
  readonly ended: AbortController;
}

/**
 * The connection to a tenant's virtual host. It connects again for as long as it is wanted; what was not settled before comes again then. A message that
 * is published is in the broker's hands when `publish` resolves; at any failure the connection is given up, so that nothing is sent late.
 */
export class VirtualHost {
  readonly #options: VirtualHostOptions;
  readonly #stopping = new AbortController();
  readonly #known = new Map<string, number>();
  #open: Open | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: VirtualHostOptions) {
    this.#options = options;
  }

  get vhost(): string {
    return this.#options.vhost;
  }

  get isConnected(): boolean {
    return this.#open !== undefined;
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const open = this.#open;
    this.#open = undefined;
    // before the connection closes: what is settled from now on would be sent on a channel that takes nothing more
    open?.ended.abort();
    await open?.connection.close().catch(() => undefined);
    await within(this.#done, stopMs);
  }

  /**
   * Publishes messages in this order and waits until the broker has said of each what became of it. Messages to exchanges that their client has removed
   * are dropped, as by hawkBit. Rejects if the connection is away or breaks, and after `deadline` (epoch ms), when nothing has been sent. `onPublished`
   * is called when all are on their way and nothing has been confirmed.
   */
  async publish(
    messages: readonly Outgoing[],
    deadline = Number.POSITIVE_INFINITY,
    onPublished: () => void | Promise<void> = () => undefined,
  ): Promise<Fates> {
    const open = this.#open;
    if (open === undefined) throw new Error(`virtual host ${this.vhost} is not connected`);
    try {
      const exchanges = [...new Set(messages.map(({ exchange }) => exchange))];
      const missing = new Set<string>();
      for (const exchange of exchanges) if (!(await this.#exists(open, exchange))) missing.add(exchange);
      if (Date.now() > deadline) throw new Error("too late: another replica may send by now");
      const dropped: Outgoing[] = [];
      const refused: Outgoing[] = [];
      const answered = messages.map((message) => {
        if (missing.has(message.exchange)) return void dropped.push(message);
        return new Promise<void>((resolve) => {
          open.publisher.publish(message.exchange, "", message.content, message.options, (error: unknown) => {
            if (error) refused.push(message);
            resolve();
          });
        });
      });
      await onPublished();
      await orTimeout(Promise.all(answered), open.ended.signal);
      // a channel that closes calls back too, and then nothing is known of its messages
      if (open.ended.signal.aborted) throw new Error("the connection has ended");
      return { dropped, refused };
    } catch (error) {
      this.#known.clear();
      this.#give(open);
      throw error;
    }
  }

  /** A publication to an exchange that is not there would close the channel, and lose what went before. */
  async #exists({ connection, ended }: Open, exchange: string): Promise<boolean> {
    const now = Date.now();
    if ((this.#known.get(exchange) ?? 0) > now) return true;
    const channel = await orTimeout(connection.createChannel(), ended.signal);
    // a missing exchange closes the channel, which is how the broker says so
    channel.on("error", () => undefined);
    const exists = await orTimeout(channel.checkExchange(exchange), ended.signal).then(
      () => true,
      (error: { code?: number }) => {
        if (refusals.has(error.code)) return false;
        throw error;
      },
    );
    if (exists) {
      this.#known.set(exchange, now + knownMs);
      await channel.close();
    }
    return exists;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { log, vhost } = this.#options;
    for (let attempts = 1; !signal.aborted; attempts += 1) {
      try {
        const open = await this.#connect();
        // it was stopped meanwhile
        if (signal.aborted) return this.#give(open);
        attempts = 0;
        log.info({ vhost }, "connected to the virtual host");
        await new Promise<void>((resolve) => open.ended.signal.addEventListener("abort", () => resolve(), { once: true }));
        if (!signal.aborted) log.warn({ vhost }, "the connection to the virtual host has ended; connecting again");
      } catch (error) {
        if (!signal.aborted && attempts === 1) log.warn({ err: error, vhost }, "the virtual host cannot be connected to; trying again");
      }
      await pause(backOff(Math.max(attempts, 1), retries), signal);
    }
  }

  async #connect(): Promise<Open> {
    const { url, vhost } = this.#options;
    const address = new URL(url);
    address.pathname = `/${encodeURIComponent(vhost)}`;
    address.searchParams.set("heartbeat", String(heartbeatSeconds));
    const connection = await connect(address.href, { timeout: connectMs, clientProperties: { connection_name: "harrier/dmf" } });
    const ended = new AbortController();
    const end = () => {
      if (this.#open?.ended === ended) this.#open = undefined;
      ended.abort();
    };
    connection.on("error", end);
    connection.on("close", end);
    try {
      const consumer = await connection.createChannel();
      limitMessages(consumer, maxMessageBytes);
      const publisher = await connection.createConfirmChannel();
      const open = { connection, publisher, ended };
      for (const channel of [consumer, publisher]) {
        channel.on("error", () => this.#give(open));
        channel.on("close", () => this.#give(open));
      }
      for (const [name, type] of Object.entries(dmfExchanges)) await consumer.assertExchange(name, type, { durable: true });
      for (const [name, args] of Object.entries(dmfQueues)) await consumer.assertQueue(name, { durable: true, arguments: args });
      for (const { queue, exchange } of dmfBindings) await consumer.bindQueue(queue, exchange, "");
      await consumer.prefetch(prefetch);
      this.#open = open;
      await consumer.consume(dmfNames.receiver, (message) => {
        // null: somebody has deleted the queue
        if (message === null) return this.#give(open);
        // no more of the message than this is kept while it is handled: the memory of its body is free once it is read
        const delivered = { fields: message.fields } as Message;
        const settle: Settle = (how) => {
          if (ended.signal.aborted) return;
          try {
            if (how === "done") consumer.ack(delivered);
            else consumer.nack(delivered, false, false);
          } catch {
            this.#give(open); // the channel is closing, and the message comes again
          }
        };
        this.#options.onMessage(message, settle, ended.signal);
      });
      return open;
    } catch (error) {
      end();
      this.#open = undefined;
      await connection.close().catch(() => undefined);
      throw error;
    }
  }

  /** Gives a connection up; `#run` makes the next one. */
  #give(open: Open): void {
    if (open.ended.signal.aborted) return;
    if (this.#open === open) this.#open = undefined;
    open.ended.abort();
    void open.connection.close().catch(() => undefined);
  }
}

/** Rejects when the connection ends or the broker does not answer in time. */
function orTimeout<T>(work: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error("the broker does not answer")), confirmMs);
    const onEnd = () => reject(new Error("the connection has ended"));
    ended.addEventListener("abort", onEnd, { once: true });
    if (ended.aborted) onEnd();
    work.then(resolve, reject).finally(() => {
      clearTimeout(limit);
      ended.removeEventListener("abort", onEnd);
    });
  });
}
