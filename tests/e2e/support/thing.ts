import { setTimeout as sleep } from "node:timers/promises";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";

/** A message that a thing has got. */
export interface Got {
  readonly type: string;
  readonly topic: string | undefined;
  readonly thingId: string | undefined;
  readonly correlationId: string | undefined;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any message
  readonly body: any;
}

export interface Backend {
  readonly exchange: string;
  readonly channel: Channel;
  readonly got: readonly Got[];
  /** Publishes as a thing does; headers and properties may be left out or replaced. */
  send(headers: Record<string, unknown>, body?: unknown, properties?: object): void;
  register(thingId: string, body?: object): void;
  report(actionId: number, actionStatus: string, more?: object): void;
  /** Waits for the next message that fits, and takes it out of those that wait. */
  next(fits: (message: Got) => boolean, limitMs?: number): Promise<Got>;
  close(): Promise<void>;
}

/** A backend of things, as other people write it: one connection, one reply exchange with one queue, and only what hawkBit documents. */
export async function connectBackend(url: string, { tenant = "DEFAULT", exchange = "test.replies" } = {}): Promise<Backend> {
  const connection: ChannelModel = await connect(url);
  connection.on("error", () => undefined);
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  await channel.assertExchange(exchange, "fanout", { durable: true });
  const { queue } = await channel.assertQueue(`${exchange}.queue`, { durable: true });
  await channel.bindQueue(queue, exchange, "");
  const got: Got[] = [];
  const waiting: Got[] = [];
  await channel.consume(queue, (message) => {
    if (message === null) return;
    const one = readMessage(message);
    got.push(one);
    waiting.push(one);
    channel.ack(message);
  });
  const send: Backend["send"] = (headers, body, properties = {}) => {
    const content = body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    channel.publish("dmf.exchange", "", content, { contentType: "application/json", headers: { tenant, ...headers }, ...properties });
  };
  return {
    exchange,
    channel,
    got,
    send,
    register: (thingId, body) => send({ type: "THING_CREATED", thingId }, body, { replyTo: exchange }),
    report: (actionId, actionStatus, more = {}) =>
      send({ type: "EVENT", topic: "UPDATE_ACTION_STATUS" }, { actionId, actionStatus, message: [`is ${actionStatus}`], ...more }),
    async next(fits, limitMs = 15_000) {
      for (const limit = Date.now() + limitMs; ; await sleep(20)) {
        const place = waiting.findIndex(fits);
        if (place >= 0) return waiting.splice(place, 1)[0] as Got;
        if (Date.now() > limit) throw new Error(`no such message within ${limitMs} ms; there are ${JSON.stringify(waiting)}`);
      }
    },
    close: () => connection.close(),
  };
}

function readMessage({ content, properties }: ConsumeMessage): Got {
  const headers = properties.headers ?? {};
  const text = content.toString("utf8");
  const isJson = text.startsWith("{") || text.startsWith("[");
  return {
    type: String(headers["type"]),
    topic: headers["topic"] as string | undefined,
    thingId: headers["thingId"] as string | undefined,
    correlationId: properties.correlationId as string | undefined,
    headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}
