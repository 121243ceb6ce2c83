import { setTimeout as sleep } from "node:timers/promises";
import { type Database, inSnapshot, withLeadership } from "@harrier/db";
import type { Kafka, Producer } from "kafkajs";
import { type EventMessage, expand, type OutboxRow } from "./expand.ts";
import { createFencedProducer, createKafka, ensureTopics } from "./kafka.ts";
import { moveCursor, type PageLimits, readCursor, readPage, type Sent, skipOlderThan, waitForReader } from "./outbox.sql.ts";

/** What the relay tells its process; pino's logger fits. */
export interface RelayLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RelayOptions {
  db: Database;
  /** The owner's schema; also in every event id and in the producer's transactional id. */
  schema: string;
  /** host:port, comma separated. Absent: nobody listens, old rows are passed over. */
  brokers?: string | undefined;
  clientId: string;
  log: RelayLog;
  /** Named fault points of the owning service. */
  fault?: (name: string) => unknown;
  onPublished?: (messages: number) => void;
}

const idleMs = 250;
const stopLimitMs = 1_500;
/** What is in memory at a time. */
const pageLimits: PageLimits = { rows: 200, items: 20_000 };
const messagesPerTransaction = 2_000;
const retention = "1 day";

/**
 * Publishes one owner's outbox to Kafka: per key in the order of the changes, never skipping a transaction that commits late, at least once.
 * One leader per outbox by a session advisory lock, fenced by its transactional producer id.
 */
export function createRelay(options: RelayOptions): { start(): void; stop(): Promise<void> } {
  const stopping = new AbortController();
  let done: Promise<void> = Promise.resolve();
  return {
    start() {
      done = options.brokers ? publish(options, options.brokers, stopping.signal) : prune(options, stopping.signal);
    },
    async stop() {
      stopping.abort();
      // a broker that does not answer must not hold up the end of the process: what was not confirmed is sent again by the next leader
      await Promise.race([done, sleep(stopLimitMs, undefined, { ref: false })]);
    },
  };
}

async function prune(options: RelayOptions, signal: AbortSignal): Promise<void> {
  options.log.info({ schema: options.schema }, "no Kafka brokers set: events are kept for a day and then dropped");
  while (!signal.aborted) {
    await skipOlderThan(options.db, retention).catch((e: unknown) => options.log.warn({ err: e }, "outbox pruning failed"));
    await sleep(60_000, undefined, { signal }).catch(() => {});
  }
}

async function publish(options: RelayOptions, brokers: string, signal: AbortSignal): Promise<void> {
  const kafka = createKafka({ brokers, clientId: options.clientId });
  let backoff = 500;
  while (!signal.aborted) {
    try {
      await withLeadership({
        session: options.db.session,
        key: `harrier-outbox-${options.schema}`,
        signal,
        lead: (leading) => lead(options, kafka, leading),
      });
      backoff = 500;
    } catch (e) {
      if (signal.aborted) return;
      options.log.warn({ err: e, schema: options.schema, backoff }, "relay stopped, trying again");
    }
    await sleep(backoff, undefined, { signal }).catch(() => {});
    backoff = Math.min(backoff * 2, 10_000);
  }
}

async function lead(options: RelayOptions, kafka: Kafka, signal: AbortSignal): Promise<void> {
  await ensureTopics(kafka, {});
  const producer = createFencedProducer(kafka, `harrier-${options.schema}-outbox`);
  await producer.connect();
  options.log.info({ schema: options.schema }, "relay leads");
  try {
    let sent = await readCursor(options.db);
    while (!signal.aborted) {
      const page = await readPage(options.db.pool, sent, "0", pageLimits);
      if (page.more) sent = await sendBacklog({ options, producer, signal }, sent);
      else {
        await publishRows(options, producer, page.rows);
        if (page.rows.length > 0) await moveCursor(options.db, page.snapshot);
        else await sleep(idleMs, undefined, { signal }).catch(() => {});
        sent = page.snapshot;
      }
    }
  } finally {
    await producer.disconnect().catch(() => {});
  }
}

interface Leader {
  options: Pick<RelayOptions, "db" | "schema" | "fault" | "onPublished">;
  producer: Pick<Producer, "transaction">;
  /** Aborts when another may lead: what is left of a page is its. */
  signal: AbortSignal;
}

/**
 * More than one page: all of them are read in one snapshot, for between two a predecessor of what the second shows could appear behind
 * the first. Ends with everything that was visible when it began.
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

/** Whether all were published; with a signal it stops between two transactions of the producer. */
async function publishRows(
  options: Leader["options"],
  producer: Leader["producer"],
  rows: readonly OutboxRow[],
  signal?: AbortSignal,
): Promise<boolean> {
  for (const messages of batches(options.schema, rows)) {
    if (signal?.aborted) return false;
    if (messages.length === 0) continue; // rows without an event, which only ring inside
    await send(producer, messages);
    await options.fault?.(`${options.schema.replaceAll("_", "-")}.relay.after-send`);
    options.onPublished?.(messages.length);
  }
  return true;
}

/** Whole outbox rows, about `messagesPerTransaction` messages each. */
function* batches(schema: string, rows: readonly OutboxRow[]): Generator<EventMessage[]> {
  let messages: EventMessage[] = [];
  for (const [i, row] of rows.entries()) {
    messages.push(...expand(schema, row));
    if (messages.length < messagesPerTransaction && i < rows.length - 1) continue;
    yield messages;
    messages = [];
  }
}

const bytesPerRequest = 700_000; // under the brokers' default limit of 1 MiB a batch

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
