import type { ChannelModel, ConfirmChannel, Options } from "amqplib";
import pLimit from "p-limit";
import { connectTo, orTimeout, type Place } from "./connection.ts";

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

/** The channel's answers about one exchange, by AMQP's codes: access refused, not found, locked, of another kind. Others are about the connection. */
const refusals: ReadonlySet<unknown> = new Set([403, 404, 405, 406]);
/** The existence of a reply exchange is looked up again after this time; so many that are known are kept, and looked up at a time. */
const knownMs = 60_000;
const maxKnown = 10_000;
const lookUps = 16;

interface Open {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  readonly ended: AbortController;
}

/**
 * Publishes to a virtual host, on a connection of its own that it makes when there is something to publish: a broker that is out of memory or disk reads
 * nothing any more from a connection that has published, and would not see what else it says.
 */
export class Publisher {
  readonly #place: Place;
  readonly #known = new Map<string, number>();
  #open: Promise<Open> | undefined;
  #blocked = false;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Whether the broker has said that it reads nothing from this connection, because it is out of memory or disk. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  async stop(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.then(give).catch(() => undefined);
  }

  /**
   * Publishes messages in this order and waits until the broker has said of each what became of it. Messages to exchanges that their client has removed
   * are dropped, as by hawkBit. Rejects if the connection cannot be made or breaks, and after `deadline` (epoch ms), when nothing has been sent. Whatever
   * fails, the connection is given up, so that nothing is sent late; one that the broker does not read is kept, because what it has been given comes first
   * when it does. `onPublished` is called when all are on their way and nothing has been confirmed.
   */
  async publish(messages: readonly Outgoing[], deadline: number, onPublished: () => void | Promise<void>): Promise<Fates> {
    if (this.#blocked) throw new Error("the broker is out of memory or disk, and takes no messages");
    this.#open ??= this.#connect();
    const opening = this.#open;
    try {
      const open = await opening;
      const missing = await this.#missing(open, [...new Set(messages.map(({ exchange }) => exchange))]);
      if (Date.now() > deadline) throw new Error("too late: another replica may send by now");
      return await send(open, { messages, missing, onPublished });
    } catch (error) {
      if (!this.#blocked) {
        if (this.#open === opening) this.#open = undefined;
        void opening.then(give).catch(() => undefined);
      }
      throw error;
    }
  }

  /** The exchanges that are not there: a publication to one of them would close the channel, and lose what went before. */
  async #missing(open: Open, exchanges: readonly string[]): Promise<ReadonlySet<string>> {
    const now = Date.now();
    if (this.#known.size > maxKnown) this.#known.clear();
    const asked = exchanges.filter((exchange) => (this.#known.get(exchange) ?? 0) <= now);
    const missing = new Set<string>();
    const lookUp = async (exchange: string): Promise<void> => {
      if (await exists(open, exchange)) this.#known.set(exchange, now + knownMs);
      else missing.add(exchange);
    };
    const limit = pLimit(lookUps);
    await limit.map(asked, lookUp).catch((error: unknown) => {
      // the others would fail as well, one after the other
      limit.clearQueue();
      throw error;
    });
    return missing;
  }

  async #connect(): Promise<Open> {
    const connection = await connectTo(this.#place, "harrier/dmf to things");
    const ended = new AbortController();
    const end = () => {
      if (ended.signal.aborted) return;
      ended.abort();
      this.#open = undefined;
      this.#blocked = false;
      this.#known.clear();
    };
    connection.on("error", end);
    connection.on("close", end);
    connection.on("blocked", () => {
      this.#blocked = true;
    });
    connection.on("unblocked", () => {
      this.#blocked = false;
    });
    try {
      const channel = await orTimeout(connection.createConfirmChannel(), ended.signal);
      channel.on("error", () => give({ connection }));
      channel.on("close", () => give({ connection }));
      return { connection, channel, ended };
    } catch (error) {
      give({ connection });
      throw error;
    }
  }
}

function give({ connection }: Pick<Open, "connection">): void {
  void connection.close().catch(() => undefined);
}

interface Sending {
  readonly messages: readonly Outgoing[];
  readonly missing: ReadonlySet<string>;
  readonly onPublished: () => void | Promise<void>;
}

async function send({ channel, ended }: Open, { messages, missing, onPublished }: Sending): Promise<Fates> {
  const dropped: Outgoing[] = [];
  const refused: Outgoing[] = [];
  const answered = messages.map((message) => {
    if (missing.has(message.exchange)) return void dropped.push(message);
    return new Promise<void>((resolve) => {
      channel.publish(message.exchange, "", message.content, message.options, (error: unknown) => {
        if (error) refused.push(message);
        resolve();
      });
    });
  });
  await onPublished();
  await orTimeout(Promise.all(answered), ended.signal);
  // a channel that closes calls back too, and then nothing is known of its messages
  if (ended.signal.aborted) throw new Error("the connection has ended");
  return { dropped, refused };
}

async function exists({ connection, ended }: Open, exchange: string): Promise<boolean> {
  const channel = await orTimeout(connection.createChannel(), ended.signal);
  // a missing exchange closes the channel, which is how the broker says so
  channel.on("error", () => undefined);
  const found = await orTimeout(channel.checkExchange(exchange), ended.signal).then(
    () => true,
    (error: { code?: number }) => {
      if (refusals.has(error.code)) return false;
      throw error;
    },
  );
  if (found) await channel.close();
  return found;
}
