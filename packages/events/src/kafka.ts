import type { Topic } from "@harrier/contracts";
import { type Admin, Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import { topicSettings } from "./topics.ts";

export interface KafkaSettings {
  /** The value is host:port, comma separated. */
  brokers: string;
  clientId: string;
  /** The partitions and replicas of topics that have to be created. */
  partitions?: number;
  replicas?: number;
}

/** Makes a client that leaves retries to us, because a relay that cannot send must notice, stop leading and report it. */
export function createKafka(settings: KafkaSettings): Kafka {
  return new Kafka({
    clientId: settings.clientId,
    brokers: settings.brokers.split(",").map((b) => b.trim()),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: { retries: 5, initialRetryTime: 200, maxRetryTime: 3_000 },
  });
}

/** Creates the topics that the broker lacks; existing topics keep their operator's settings. */
export async function ensureTopics(kafka: Kafka, settings: Pick<KafkaSettings, "partitions" | "replicas">): Promise<void> {
  const admin: Admin = kafka.admin();
  await admin.connect();
  try {
    const present = new Set(await admin.listTopics());
    const missing = (Object.keys(topicSettings) as Topic[]).filter((t) => !present.has(t));
    if (missing.length === 0) return;
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({
        topic,
        numPartitions: settings.partitions ?? 6,
        replicationFactor: settings.replicas ?? -1,
        configEntries: [
          { name: "cleanup.policy", value: topicSettings[topic].cleanup },
          { name: "retention.ms", value: String(topicSettings[topic].retentionMs) },
        ],
      })),
    });
  } finally {
    await admin.disconnect();
  }
}

/**
 * Makes a producer whose transactional id belongs to the outbox, not to the process: a new leader's first transaction fences the old leader's
 * producer, so that a paused process that wakes up cannot write behind its successor.
 */
export function createFencedProducer(kafka: Kafka, transactionalId: string): Producer {
  return kafka.producer({
    transactionalId,
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
    retry: { retries: 5, initialRetryTime: 200, maxRetryTime: 3_000 },
  });
}
