import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "amqplib";

/** An event as every kind of reader gets it. */
export interface ReadEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: string;
}

export interface WebhookReceiver {
  readonly url: string;
  /** Everything that it was sent. */
  readonly got: ReadEvent[];
  /** What of this it has answered. */
  readonly accepted: ReadEvent[];
  /** From now on it accepts everything. */
  accept(): void;
  stop(): Promise<void>;
}

/** A receiver of webhooks on this machine: it accepts everything, or never answers, or accepts with an answer without an end. */
export async function webhookReceiver(manner: "accepts" | "hangs" | "never ends" = "accepts"): Promise<WebhookReceiver> {
  const got: ReadEvent[] = [];
  const accepted: ReadEvent[] = [];
  let does = manner;
  const server = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const event = JSON.parse(Buffer.concat(parts).toString()) as ReadEvent;
    got.push(event);
    if (does === "hangs") return;
    accepted.push(event);
    if (does === "accepts") return void res.writeHead(204).end();
    res.writeHead(200);
    const more = (): void => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536)));
    };
    res.on("drain", more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    got,
    accepted,
    accept() {
      does = "accepts";
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A reader of a tenant's event stream by AMQP, as a tenant writes it: a durable queue of its own, bound to `keys`. It connects again after a break. */
export async function streamReader(url: string, { queue, keys }: { queue: string; keys: readonly string[] }) {
  const got: ReadEvent[] = [];
  let stopped = false;
  let close: () => Promise<unknown> = async () => undefined;
  const read = async (): Promise<void> => {
    const connection = await connect(url);
    close = () => connection.close().catch(() => undefined);
    connection.on("error", () => undefined);
    // A reader that was stopped while it connected would go on as a second one of its queue.
    if (stopped) return void (await close());
    connection.on("close", () => {
      reading = again();
    });
    const channel = await connection.createChannel();
    channel.on("error", () => undefined);
    await channel.assertQueue(queue, { durable: true });
    for (const key of keys) await channel.bindQueue(queue, "sie.exchange", key);
    await channel.consume(queue, (message) => {
      if (message === null) return;
      got.push(JSON.parse(message.content.toString()) as ReadEvent);
      channel.ack(message);
    });
  };
  let reading: Promise<void> | undefined;
  const again = async (): Promise<void> => {
    while (!stopped) {
      try {
        return await read();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  };
  await read();
  return {
    got,
    async stop() {
      stopped = true;
      await close();
      await reading;
    },
  };
}

/** Reads all events behind a cursor, page by page, until there are none. */
export async function eventsBehind(get: <Body>(path: string) => Promise<Body>, after: string): Promise<ReadEvent[]> {
  const events: ReadEvent[] = [];
  for (let next = after; ; ) {
    const path = `events?after=${encodeURIComponent(next)}&limit=500`;
    const page = await get<{ content: ReadEvent[]; next: string; more: boolean }>(path);
    events.push(...page.content);
    if (!page.more && page.content.length === 0) return events;
    next = page.next;
  }
}

/** Subjects of which something arrives behind what came later, repetitions aside. */
export function outOfOrder(events: readonly ReadEvent[]): string[] {
  const last = new Map<string, number>();
  const seen = new Set<string>();
  return events.flatMap(({ id, subject, sequence }) => {
    if (seen.has(id)) return [];
    seen.add(id);
    const before = last.get(subject) ?? -1;
    last.set(subject, Number(sequence));
    return Number(sequence) > before ? [] : [`${subject}: ${sequence} after ${before}`];
  });
}

export const idsOf = (events: readonly { id: string }[]): string[] => [...new Set(events.map(({ id }) => id))].sort();
