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

const [accessRefused, notFound] = [403, 404];
/** The channel's answers about one exchange, by AMQP's codes: the last two are locked and of another kind. Others are about the connection. */
const refusals: ReadonlySet<unknown> = new Set([accessRefused, notFound, 405, 406]);
/** Whether there is a reply exchange that takes messages is looked up again after this time; so many that are known are kept, and looked up at a time. */
const knownMs = 60_000;
const maxKnown = 10_000;
const lookUps = 16;
/** So many exchanges are published to at a time, each on a channel of its own, for so long after one has been refused. */
const apart = 16;
const apartMs = 600_000;

interface Open {
  readonly connection: ChannelModel;
  readonly ended: AbortController;
  readonly lane: Lane;
}

/** A channel to publish on. */
interface Lane {
  readonly channel: ConfirmChannel;
  /** Aborts when the channel is closed; the reason is what the broker says. */
  readonly closed: AbortSignal;
}

/**
 * Publishes to a virtual host, on a connection of its own that it makes when there is something to publish: a broker that is out of memory or disk reads
 * nothing any more from a connection that has published, and would not see what else it says.
 */
export class Publisher {
  readonly #place: Place;
  readonly #known = new Map<string, number>();
  /** Exchanges that are there and take nothing from anybody, until when that is not tried again. */
  readonly #refusing = new Map<string, number>();
  #apartUntil = 0;
  #open: Promise<Open> | undefined;
  /** Names the connection of `#open`: what becomes of one that was given up changes nothing. */
  #current: symbol | undefined;
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
   * are dropped, as by hawkBit, and so are those to its internal ones: a publication to either closes the channel, with all that is on its way. Once that
   * has happened, each exchange has a channel of its own for a while, which shows who it is and harms nobody else. Rejects if the connection cannot be made or breaks, and after `deadline` (epoch ms), when nothing has been sent. Whatever
   * fails, the connection is given up, so that nothing is sent late; one that the broker does not read is kept, because what it has been given comes first
   * when it does. `onPublished` is called when all are on their way and nothing has been confirmed.
   */
  async publish(messages: readonly Outgoing[], deadline: number, onPublished: () => void | Promise<void>): Promise<Fates> {
    if (this.#blocked) throw new Error("the broker is out of memory or disk, and takes no messages");
    this.#open ??= this.#connect();
    const opening = this.#open;
    const isApart = Date.now() < this.#apartUntil;
    try {
      const open = await opening;
      const missing = await this.#missing(open, [...new Set(messages.map(({ exchange }) => exchange))]);
      if (Date.now() > deadline) throw new Error("too late: another replica may send by now");
      const sending = { messages, missing, onPublished };
      return isApart ? await this.#sendApart(open, sending) : await send(open.lane, sending);
    } catch (error) {
      if (!this.#blocked) {
        if (this.#open === opening) this.#forget();
        void opening.then(give).catch(() => undefined);
      }
      if (isApart || !isRefusal(error)) throw error;
      this.#apartUntil = Date.now() + apartMs;
      return this.publish(messages, deadline, onPublished);
    }
  }

  #forget(): void {
    this.#open = undefined;
    this.#current = undefined;
    this.#blocked = false;
    this.#known.clear();
  }

  /** Publishes to each exchange on a channel of its own. */
  async #sendApart(open: Open, { messages, missing, onPublished }: Sending): Promise<Fates> {
    const now = Date.now();
    for (const [exchange, until] of this.#refusing) if (until <= now) this.#refusing.delete(exchange);
    await onPublished();
    const limit = pLimit(apart);
    const sendTo = async ([exchange, all]: [string, Outgoing[]]): Promise<Fates> => {
      if (this.#refusing.has(exchange)) return { dropped: all, refused: [] };
      const lane = await openLane(open);
      try {
        return await send(lane, { messages: all, missing, onPublished: () => undefined });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.#known.delete(exchange);
        if (!isMissing(error) && this.#refusing.size < maxKnown) this.#refusing.set(exchange, now + knownMs);
        return { dropped: all, refused: [] };
      } finally {
        if (!lane.closed.aborted) await orTimeout(lane.channel.close(), open.ended.signal);
      }
    };
    const fates = await limit.map([...Map.groupBy(messages, ({ exchange }) => exchange)], sendTo).catch((error: unknown) => {
      limit.clearQueue();
      throw error;
    });
    return { dropped: fates.flatMap(({ dropped }) => dropped), refused: fates.flatMap(({ refused }) => refused) };
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
    const name = Symbol("connection");
    this.#current = name;
    const connection = await connectTo(this.#place, "harrier/dmf to things");
    const ended = new AbortController();
    const end = () => {
      if (ended.signal.aborted) return;
      ended.abort();
      if (this.#current === name) this.#forget();
    };
    connection.on("error", end);
    connection.on("close", end);
    connection.on("blocked", () => {
      if (this.#current === name) this.#blocked = true;
    });
    connection.on("unblocked", () => {
      if (this.#current === name) this.#blocked = false;
    });
    try {
      const lane = await openLane({ connection, ended });
      lane.closed.addEventListener("abort", () => give({ connection }), { once: true });
      return { connection, ended, lane };
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

async function openLane({ connection, ended }: Pick<Open, "connection" | "ended">): Promise<Lane> {
  const channel = await orTimeout(connection.createConfirmChannel(), ended.signal);
  const closed = new AbortController();
  channel.on("error", (error) => closed.abort(error));
  channel.on("close", () => closed.abort(new Error("the channel has ended")));
  return { channel, closed: closed.signal };
}

const codeOf = (error: unknown): number => (error as { code?: number } | undefined)?.code ?? 0;
const isMissing = (error: unknown): boolean => codeOf(error) === notFound;
/** Whether an exchange has refused a publication: nobody may publish to it, or it is gone since it was looked up. */
const isRefusal = (error: unknown): boolean => isMissing(error) || codeOf(error) === accessRefused;

async function send({ channel, closed }: Lane, { messages, missing, onPublished }: Sending): Promise<Fates> {
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
  await orTimeout(Promise.all(answered), closed);
  // a channel that closes calls back too, and then nothing is known of its messages
  closed.throwIfAborted();
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
