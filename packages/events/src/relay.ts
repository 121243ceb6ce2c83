import { type Database, inSnapshot, withLeadership } from "@harrier/db";
import { backOff, type Observer, part, pause, within } from "@harrier/jobs";
import { type TracedSpan, tracer } from "@harrier/tracing";
import type { Kafka, Producer } from "kafkajs";
import { type EventMessage, expand, type OutboxRow } from "./expand.ts";
import { moveCursor, type PageLimits, readCursor, readPage, type Sent, skipOlderThan, waitForReader } from "./outbox.sql.ts";

/** The relay reports to its process here; pino's logger fits. */
export interface RelayLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RelayOptions {
  db: Database;
  /** The owner's schema, which is also in every event id and in the producer's transactional id. */
  schema: string;
  /** The value is host:port, comma separated. Without it nobody receives events, and old rows are skipped. */
  brokers?: string | undefined;
  clientId: string;
  log: RelayLog;
  /** The fault points of the owning service. */
  fault?: (name: string) => unknown;
  onPublished?: (messages: number) => void;
}

const idleMs = 250;
const pruneEveryMs = 60_000;
const retries = { firstMs: 500, maxMs: 10_000 };
const stopLimitMs = 1_500;
/** At most so much is in memory at a time. */
const pageLimits: PageLimits = { rows: 200, items: 20_000 };
const messagesPerTransaction = 2_000;
const retention = "1 day";

/**
 * Publishes one owner's outbox to Kafka: per key in the order of the changes, without skipping a transaction that commits late, at least once. A
 * session advisory lock makes one leader per outbox, fenced by its transactional producer id.
 */
export function createRelay(options: RelayOptions): Relay {
  const stopping = new AbortController();
  let done: Promise<void> = Promise.resolve();
  return {
    start(observer) {
      const observed = { ...options, observer };
      done = options.brokers ? publish(observed, options.brokers, stopping.signal) : prune(observed, stopping.signal);
    },
    stop() {
      stopping.abort();
      // a broker that does not answer must not delay the end of the process; the next leader sends again what was not confirmed
      return within(done, stopLimitMs);
    },
  };
}

export interface Relay {
  start(observer?: Observer): void;
  stop(): Promise<unknown>;
}

/** The relay as a background job, for the list of its service. */
export const relayJob = part<{ readonly relay: Relay }>({
  does: "Sends the events of the outbox to Kafka; without Kafka it passes over those older than a day, so that their partitions can go.",
  runs: "leader",
  everyMs: idleMs,
  start: ({ relay }, observer) => relay.start(observer),
  stop: ({ relay }) => relay.stop(),
});

interface Observed extends RelayOptions {
  readonly observer: Observer | undefined;
}

async function prune(options: Observed, signal: AbortSignal): Promise<void> {
  options.log.info({ schema: options.schema }, "no Kafka brokers set: events can be read by cursor, and are sent to nobody");
  while (!signal.aborted) {
    const skip = () => skipOlderThan(options.db, retention);
    await observe(options, skip).catch((e: unknown) => options.log.warn({ err: e }, "outbox pruning failed"));
    await pause(pruneEveryMs, signal);
  }
}

const observe = <T>({ observer }: Observed, work: () => Promise<T>): Promise<T> => observer?.round(work) ?? work();

/** Without brokers nobody needs the client: with what it needs it takes ten megabytes. */
const loadClient = () => import("./kafka.ts");
type KafkaClient = Awaited<ReturnType<typeof loadClient>>;

async function publish(options: Observed, brokers: string, signal: AbortSignal): Promise<void> {
  const client = await loadClient();
  const kafka = client.createKafka({ brokers, clientId: options.clientId });
  for (let attempts = 1; !signal.aborted; attempts += 1) {
    const backoff = backOff(attempts, retries);
    const began = performance.now();
    try {
      await withLeadership({
        session: options.db.session,
        key: `harrier-outbox-${options.schema}`,
        signal,
        lead: (leading) => lead(options, { client, kafka }, leading),
      });
    } catch (e) {
      if (signal.aborted) return;
      options.log.warn({ err: e, schema: options.schema, backoff }, "relay stopped, trying again");
    }
    await pause(backoff, signal);
    // a relay that has worked for a while meets a new failure, after which the next attempt comes soon again
    if (performance.now() - began > 2 * retries.maxMs) attempts = 0;
  }
}

async function lead(options: Observed, { client, kafka }: { client: KafkaClient; kafka: Kafka }, signal: AbortSignal): Promise<void> {
  const producer = client.createFencedProducer(kafka, `harrier-${options.schema}-outbox`);
  await observe(options, async () => {
    await client.ensureTopics(kafka, {});
    await producer.connect();
  });
  options.log.info({ schema: options.schema }, "relay leads");
  try {
    let sent = await readCursor(options.db);
    const round = async (): Promise<boolean> => {
      const page = await readPage(options.db.pool, sent, "0", pageLimits);
      if (page.more) sent = await sendBacklog({ options, producer, signal }, sent);
      else {
        await publishRows(options, producer, page.rows);
        if (page.rows.length > 0) await moveCursor(options.db, page.snapshot);
        sent = page.snapshot;
      }
      return page.more || page.rows.length > 0;
    };
    while (!signal.aborted) if (!(await observe(options, round))) await pause(idleMs, signal);
  } finally {
    await producer.disconnect().catch(() => {});
  }
}

interface Leader {
  options: Pick<RelayOptions, "db" | "schema" | "fault" | "onPublished">;
  producer: Pick<Producer, "transaction">;
  /** It aborts when another relay may lead, which then sends the rest of the page. */
  signal: AbortSignal;
}

/**
 * Sends more than one page. All pages are read in one snapshot, because between two snapshots an earlier change could appear behind a later one. It
 * ends with everything that was visible when it began.
 */
export async function sendBacklog(leader: Leader, sent: Sent): Promise<Sent> {
  const { options, producer, signal } = leader;
  const snapshot = await inSnapshot(options.db.pool, async (tx) => {
    await waitForReader(tx);
    let after = "0";
    for (;;) {
      const page = await readPage(tx, sent, after, pageLimits);
      if (!(await publishRows(options, producer, page.rows, signal))) return sent;
      if (!page.more) return page.snapshot;
      after = page.rows.at(-1)?.id ?? after;
    }
  });
  await moveCursor(options.db, snapshot);
  return snapshot;
}

/** Publishes rows and answers whether all were published; with a signal it stops between two transactions of the producer. */
async function publishRows(
  options: Leader["options"],
  producer: Leader["producer"],
  rows: readonly OutboxRow[],
  signal?: AbortSignal,
): Promise<boolean> {
  for (const { messages, spans } of batches(options.schema, rows)) {
    if (signal?.aborted) return false;
    if (messages.length === 0) continue; // rows without an event only notify inside the service
    await tracedSend(producer, messages, spans);
    await options.fault?.(`${options.schema.replaceAll("_", "-")}.relay.after-send`);
    options.onPublished?.(messages.length);
  }
  return true;
}

interface Batch {
  readonly messages: EventMessage[];
  /** One for each of its rows whose change is traced; it begins when the row is taken up. */
  readonly spans: TracedSpan[];
}

/** Splits whole outbox rows into batches of about `messagesPerTransaction` messages. */
function* batches(schema: string, rows: readonly OutboxRow[]): Generator<Batch> {
  let batch: Batch = { messages: [], spans: [] };
  for (const [i, row] of rows.entries()) {
    const span = spanOf(row);
    if (span !== undefined) batch.spans.push(span);
    batch.messages.push(...expand(schema, row, span?.traceparent));
    if (batch.messages.length < messagesPerTransaction && i < rows.length - 1) continue;
    yield batch;
    batch = { messages: [], spans: [] };
  }
}

function spanOf(row: OutboxRow): TracedSpan | undefined {
  if (row.items.length === 0) return undefined;
  return tracer?.begin({
    name: `send ${row.topic}`,
    kind: "producer",
    parent: row.traceparent ?? undefined,
    attributes: {
      "messaging.system": "kafka",
      "messaging.operation.type": "send",
      "messaging.destination.name": row.topic,
      "messaging.batch.message_count": row.items.length,
    },
  });
}

async function tracedSend(producer: Leader["producer"], messages: readonly EventMessage[], spans: readonly TracedSpan[]): Promise<void> {
  try {
    await send(producer, messages);
    for (const span of spans) span.end();
  } catch (error) {
    for (const span of spans) span.end(undefined, "unavailable");
    throw error;
  }
}

const bytesPerRequest = 700_000; // it is under the brokers' default limit of 1 MiB a batch

async function send(producer: Pick<Producer, "transaction">, messages: readonly EventMessage[]): Promise<void> {
  const transaction = await producer.transaction();
  try {
    for (const part of parts(messages)) await transaction.sendBatch({ acks: -1, topicMessages: group(part) });
    await transaction.commit();
  } catch (e) {
    await transaction.abort().catch(() => {});
    throw e;
  }
}

function* parts(messages: readonly EventMessage[]): Generator<EventMessage[]> {
  let part: EventMessage[] = [];
  let bytes = 0;
  for (const m of messages) {
    const size = m.value.length + m.key.length + 100;
    if (part.length > 0 && bytes + size > bytesPerRequest) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(m);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

function group(
  messages: readonly EventMessage[],
): { topic: string; messages: { key: string; value: string; headers: Record<string, string> }[] }[] {
  const byTopic = new Map<string, { key: string; value: string; headers: Record<string, string> }[]>();
  for (const { topic, key, value, headers } of messages) {
    const list = byTopic.get(topic);
    if (list) list.push({ key, value, headers });
    else byTopic.set(topic, [{ key, value, headers }]);
  }
  return [...byTopic].map(([topic, list]) => ({ topic, messages: list }));
}
