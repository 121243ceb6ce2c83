import { dmfBindings, dmfExchanges, dmfNames, dmfQueues } from "@harrier/contracts";
import { backOff, pause, within } from "@harrier/jobs";
import type { ChannelModel, ConsumeMessage, Message } from "amqplib";
import type { LimitFunction } from "p-limit";
import { readAnyHeaders } from "./any-headers.ts";
import { connectTo } from "./connection.ts";
import { limitMessages, maxMessageBytes } from "./message-limit.ts";
import { type Fates, type Outgoing, Publisher } from "./publisher.ts";
import { ReadBudget } from "./read-budget.ts";

export interface VirtualHostOptions {
  /** The broker's address with user and password, without a virtual host. */
  url: string;
  vhost: string;
  /** Bounds how many virtual hosts are connected to at the same time. */
  connecting: LimitFunction;
  /** Takes a message; it settles it by itself, by `settle`, in any order. */
  onMessage: (message: ConsumeMessage, settle: Settle, signal: AbortSignal) => void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Ends a message: `done` acknowledges it, `refused` gives it to the dead letters. */
export type Settle = (end: "done" | "refused") => void;

/** So many messages are handled at a time; the broker keeps the others. */
const prefetch = 64;
const retries = { firstMs: 200, maxMs: 5_000 };
const stopMs = 2_000;
/** A connection that ends before this time is one of several failures, whatever ends it: there are pauses between them, and they do not fill the log. */
const steadyMs = 30_000;
const endings = ["has ended", "has ended soon", "ends again and again"] as const;

interface Open {
  readonly connection: ChannelModel;
  readonly ended: AbortController;
}

/**
 * A tenant's virtual host: the connection that its messages come from, and the one that those to things go to. It connects again for as long as it is
 * wanted; what was not settled before comes again then. A message that is published is in the broker's hands when `publish` resolves.
 */
export class VirtualHost {
  readonly #options: VirtualHostOptions;
  readonly #stopping = new AbortController();
  readonly #publisher: Publisher;
  #open: Open | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: VirtualHostOptions) {
    this.#options = options;
    this.#publisher = new Publisher(options);
  }

  get vhost(): string {
    return this.#options.vhost;
  }

  get isConnected(): boolean {
    return this.#open !== undefined;
  }

  /** Whether the broker is out of memory or disk, and takes no messages. */
  get isBlocked(): boolean {
    return this.#publisher.isBlocked;
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
    await within(this.#publisher.stop(), stopMs);
    await open?.connection.close().catch(() => undefined);
    await within(this.#done, stopMs);
  }

  /** Has the messages that are not settled come again, to whichever replica, and connects again. */
  giveUp(): void {
    if (this.#open !== undefined) this.#give(this.#open);
  }

  /** Publishes messages as `Publisher.publish` does; rejects while the virtual host is away. */
  async publish(
    messages: readonly Outgoing[],
    deadline = Number.POSITIVE_INFINITY,
    onPublished: () => void | Promise<void> = () => undefined,
  ): Promise<Fates> {
    if (this.#open === undefined) throw new Error(`virtual host ${this.vhost} is not connected`);
    return this.#publisher.publish(messages, deadline, onPublished);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { log, vhost } = this.#options;
    // so many connections in a row have ended soon
    let brief = 0;
    for (let attempts = 1; !signal.aborted; attempts += 1) {
      try {
        const open = await this.#options.connecting(async () => (signal.aborted ? undefined : this.#connect()));
        if (open === undefined) return;
        // it was stopped meanwhile
        if (signal.aborted) return this.#give(open);
        const at = Date.now();
        if (brief <= 1) log.info({ vhost }, "connected to the virtual host");
        await new Promise<void>((resolve) => open.ended.signal.addEventListener("abort", () => resolve(), { once: true }));
        brief = Date.now() - at < steadyMs ? brief + 1 : 0;
        attempts = brief;
        if (!signal.aborted && brief <= 2) log.warn({ vhost }, `the connection to the virtual host ${endings[brief]}; connecting again`);
      } catch (error) {
        if (!signal.aborted && attempts === 1) log.warn({ err: error, vhost }, "the virtual host cannot be connected to; trying again");
      }
      await pause(backOff(Math.max(attempts, 1), retries), signal);
    }
  }

  async #connect(): Promise<Open> {
    const connection = await connectTo(this.#options, "harrier/dmf");
    const ended = new AbortController();
    const end = () => {
      if (this.#open?.ended === ended) this.#open = undefined;
      ended.abort();
    };
    connection.on("error", end);
    connection.on("close", end);
    try {
      readAnyHeaders(connection.connection);
      const budget = new ReadBudget(connection.connection);
      ended.signal.addEventListener("abort", () => budget.end(), { once: true });
      const consumer = await connection.createChannel();
      limitMessages(consumer, maxMessageBytes);
      const open = { connection, ended };
      consumer.on("error", () => this.#give(open));
      consumer.on("close", () => this.#give(open));
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
        const settled = budget.take(message.content.length);
        const settle: Settle = (how) => {
          if (ended.signal.aborted) return;
          settled();
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
