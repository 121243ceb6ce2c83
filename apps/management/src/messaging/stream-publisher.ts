import { dmfNames } from "@harrier/contracts";
import { within } from "@harrier/jobs";
import { type ChannelModel, type ConfirmChannel, connect, type Options } from "amqplib";

/** A message to the exchange of the event stream. */
export interface StreamMessage {
  readonly routingKey: string;
  readonly content: Buffer;
  readonly options: Options.Publish;
}

/** Publishes to the exchange of the event stream of virtual hosts. */
export interface StreamPublisher {
  /**
   * Publishes messages in this order, and resolves when the broker has all of them. Rejects if it has not taken one, or the connection fails; nothing is
   * sent after `deadline` (epoch ms).
   */
  publish(vhost: string, messages: readonly StreamMessage[], deadline: number): Promise<void>;
  stop(): Promise<void>;
}

interface Open {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  readonly ended: AbortController;
  usedAt: number;
}

const connectMs = 5_000;
const heartbeatSeconds = 10;
const answerMs = 10_000;
/** A connection that nobody has needed for so long is closed; so many stay open at most. */
const idleMs = 60_000;
const maxIdle = 100;
const stopMs = 2_000;

/** Connects to virtual hosts when there is something to publish, with the user and password of `url`. Each has one caller at a time. */
export function createStreamPublisher(url: string): StreamPublisher {
  const opened = new Map<string, Open>();
  const give = async (vhost: string, open: Open): Promise<void> => {
    if (opened.get(vhost) === open) opened.delete(vhost);
    open.ended.abort();
    await within(
      open.connection.close().catch(() => undefined),
      stopMs,
    );
  };
  const closeIdle = (): void => {
    const byUse = [...opened].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const oldest = Date.now() - idleMs;
    const over = byUse.filter(([, { usedAt }], place) => usedAt < oldest || place < byUse.length - maxIdle);
    for (const [vhost, open] of over) void give(vhost, open);
  };
  const sweep = setInterval(closeIdle, idleMs / 4);
  sweep.unref();
  return {
    async publish(vhost, messages, deadline) {
      let open = opened.get(vhost);
      if (open === undefined || open.ended.signal.aborted) {
        open = await connectTo(url, vhost);
        opened.set(vhost, open);
      }
      open.usedAt = Date.now();
      try {
        if (Date.now() > deadline) throw new Error("too late: another replica may publish by now");
        for (const { routingKey, content, options } of messages) {
          open.channel.publish(dmfNames.sieExchange, routingKey, content, options);
        }
        await answered(open.channel.waitForConfirms(), open.ended.signal);
      } catch (error) {
        await give(vhost, open);
        throw error;
      }
    },
    async stop() {
      clearInterval(sweep);
      await Promise.all([...opened].map(([vhost, open]) => give(vhost, open)));
    },
  };
}

async function connectTo(url: string, vhost: string): Promise<Open> {
  const address = new URL(url);
  address.pathname = `/${encodeURIComponent(vhost)}`;
  address.searchParams.set("heartbeat", String(heartbeatSeconds));
  const connection = await connect(address.href, { timeout: connectMs, clientProperties: { connection_name: "harrier/management" } });
  const ended = new AbortController();
  const end = () => ended.abort();
  connection.on("error", end);
  connection.on("close", end);
  try {
    const channel = await answered(connection.createConfirmChannel(), ended.signal);
    channel.on("error", end);
    channel.on("close", end);
    // somebody may have removed it, and a publication would close the channel
    await answered(channel.assertExchange(dmfNames.sieExchange, "topic", { durable: true }), ended.signal);
    return { connection, channel, ended, usedAt: Date.now() };
  } catch (error) {
    end();
    void connection.close().catch(() => undefined);
    throw error;
  }
}

/** Rejects when the connection ends, or the broker does not answer in time. */
function answered<T>(work: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onEnd = () => reject(new Error("the connection to the message broker has ended"));
    const limit = setTimeout(() => reject(new Error("the message broker does not answer")), answerMs);
    if (ended.aborted) onEnd();
    ended.addEventListener("abort", onEnd, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(limit);
      ended.removeEventListener("abort", onEnd);
    });
  });
}
