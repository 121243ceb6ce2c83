import { randomUUID } from "node:crypto";
import { eventsOfTopic, type Topic } from "@harrier/contracts";
import { eventually, withClient } from "@harrier/testkit";
import { Kafka, logLevel } from "kafkajs";
import type { JobAction } from "./job.ts";

/** A message as it is stored in its topic. */
export interface SeenEvent {
  topic: Topic;
  key: string;
  headers: Readonly<Record<string, string>>;
  id: string;
  type: string;
  subject: string;
  sequence: number;
  traceparent?: string;
  data: Record<string, unknown>;
}

export interface EventLog {
  /** All events that have arrived, repetitions included, in the order of their partition. */
  readonly seen: readonly SeenEvent[];
  /** Returns the same without repeated ids, as a consumer keeps them. */
  kept(): SeenEvent[];
  /** Waits until everything has arrived that the topics hold now; for a time without faults, since a transaction that was ended leaves records that never arrive. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

const topics = Object.keys(eventsOfTopic) as Topic[];
const quiet = { logLevel: logLevel.NOTHING };

/** Reads all topics from their beginning, as a consumer that misses nothing; it waits until the relay has created them. */
export async function followEvents(brokers: string): Promise<EventLog> {
  const kafka = new Kafka({ clientId: "harrier-e2e", brokers: brokers.split(","), ...quiet });
  await topicsExist(kafka);
  const seen: SeenEvent[] = [];
  /** The offset behind the last message of each partition that has arrived. */
  const read = new Map<string, bigint>();
  const consumer = kafka.consumer({ groupId: `e2e-${randomUUID()}`, readUncommitted: false, maxWaitTimeInMs: 250 });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      const headers = Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]));
      const event = JSON.parse(String(message.value)) as Omit<SeenEvent, "sequence"> & { sequence: string };
      seen.push({ ...event, topic: topic as Topic, key: String(message.key), headers, sequence: Number(event.sequence) });
      read.set(`${topic}/${partition}`, BigInt(message.offset) + 1n);
    },
  });
  return {
    seen,
    kept() {
      const ids = new Set<string>();
      return seen.filter(({ id }) => !ids.has(id) && ids.add(id));
    },
    async caughtUp() {
      const ends = await endsOf(kafka);
      await eventually(() => {
        const behind = ends.filter(([name, end]) => (read.get(name) ?? 0n) < end - 1n);
        if (behind.length > 0) throw new Error(`not read to the end: ${behind.map(([name]) => name).join(", ")}`);
      }, 60_000);
    },
    stop: () => consumer.disconnect(),
  };
}

/** Returns each partition that holds messages with the offset behind its last record, which is the mark that ends the relay's transaction. */
async function endsOf(kafka: Kafka): Promise<[name: string, end: bigint][]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const ofTopics = await Promise.all(
      topics.map(async (topic) =>
        (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [`${topic}/${partition}`, BigInt(high)] as const),
      ),
    );
    return ofTopics.flat().flatMap(([name, end]) => (end > 0n ? [[name, end] as [string, bigint]] : []));
  } finally {
    await admin.disconnect();
  }
}

async function topicsExist(kafka: Kafka): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await eventually(async () => {
      const present = await admin.listTopics();
      if (!topics.every((topic) => present.includes(topic))) throw new Error(`topics: ${present.join(", ")}`);
    }, 30_000);
  } finally {
    await admin.disconnect();
  }
}

/** Waits until all relays have sent everything that is committed now. */
export function relayed(adminDatabaseUrl: string, limitMs = 60_000): Promise<void> {
  return eventually(
    async () => {
      const waiting = await withClient(adminDatabaseUrl, async (client) => {
        const { rows } = await client.query<{ n: number }>(
          `select (select count(*) from controller.outbox o, controller.outbox_cursor c where not pg_visible_in_snapshot(o.txid, c.sent))::int
              + (select count(*) from rollout_engine.outbox o, rollout_engine.outbox_cursor c where not pg_visible_in_snapshot(o.txid, c.sent))::int
              + (select count(*) from management.outbox o, management.outbox_cursor c where not pg_visible_in_snapshot(o.txid, c.sent))::int as n`,
        );
        return rows[0]?.n;
      });
      if (waiting !== 0) throw new Error(`${waiting} outbox rows are not published`);
    },
    limitMs,
    200,
  );
}

/** Returns the sequences in the order of their first arrival; what a leader sends a second time comes later. */
function sequencesOf(events: readonly SeenEvent[]): number[] {
  return events.map(({ sequence }) => sequence);
}

const isOneToN = (numbers: readonly number[]): boolean => numbers.every((number, index) => number === index + 1);

/** Compares the events of these actions with their history and returns the differences; empty when a consumer knows exactly what the API knows. */
export function actionEventFaults(events: readonly SeenEvent[], actions: readonly JobAction[]): string[] {
  const bySubject = Map.groupBy(
    events.filter(({ topic }) => topic === "action-events"),
    ({ subject }) => subject,
  );
  return actions.flatMap(({ id, controllerId, history }) => {
    const own = bySubject.get(`targets/${controllerId}/actions/${id}`) ?? [];
    const told = own.map(({ sequence, data }) => `${sequence} ${data["entryStatus"]}`);
    const known = history.map((entry) => `${entry.id} ${entry.type}`);
    const found: string[] = [];
    if (!isOneToN(sequencesOf(own))) found.push(`action ${id}: sequences ${sequencesOf(own).join(" ")}`);
    if (told.join() !== known.join()) found.push(`action ${id}: events ${told.join(", ")}; history ${known.join(", ")}`);
    return found;
  });
}

/** Checks that a rollout and its groups share one sequence without a gap. */
export function rolloutEventFaults(events: readonly SeenEvent[], rolloutId: number): string[] {
  const own = events.filter(({ topic, key }) => topic === "rollout-events" && key.endsWith(`/${rolloutId}`));
  const numbers = sequencesOf(own);
  return numbers.length > 0 && isOneToN(numbers) ? [] : [`rollout ${rolloutId}: sequences ${numbers.join(" ")}`];
}

/** Returns the messages that do not have the published shape. */
export function shapeFaults(events: readonly SeenEvent[]): string[] {
  return events.flatMap(({ topic, headers: _headers, key: _key, ...event }) => {
    const parsed = eventsOfTopic[topic].safeParse({ ...event, sequence: String(event.sequence) });
    return parsed.success
      ? []
      : [`${event.id}: ${parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ")}`];
  });
}
