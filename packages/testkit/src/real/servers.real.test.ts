import { readdirSync } from "node:fs";
import kafkajs from "kafkajs";
import { expect, test } from "vitest";
import { eventually } from "../eventually.ts";
import { startKafka } from "./kafka.ts";
import { startMinio } from "./minio.ts";

test("Kafka accepts transactional messages, and has them after a kill and a restart", async ({ onTestFailed }) => {
  const kafka = await startKafka();
  // the client's own log tells why, if it gives up
  const said: string[] = [];
  onTestFailed(() => console.log(said.join("\n")));
  const logCreator: kafkajs.logCreator = () => (entry) => void said.push(`${entry.namespace} ${entry.log.message}`);
  // by default an idempotent producer retries forever, and waits longer each time
  const retry = { retries: 60, initialRetryTime: 200, maxRetryTime: 1_000 };
  const client = new kafkajs.Kafka({ clientId: "test", brokers: [kafka.brokers], logLevel: kafkajs.logLevel.INFO, logCreator, retry });
  try {
    const admin = client.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: "words" }] });
    await admin.disconnect();
    const producer = client.producer({ transactionalId: "test", idempotent: true, maxInFlightRequests: 1, retry });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: "words", acks: -1, messages: [{ key: "k", value: "hello" }] });
    await transaction.commit();
    await producer.disconnect();
    // a commit is answered before its marker is in the topic; a kill in between would test Kafka itself
    await reads(client, "before");
    await kafka.kill();
    await kafka.restart();
    await reads(client, "after");
  } finally {
    await kafka.stop();
  }
});

/** Reads with a new group, which begins at the start of the topic. */
async function reads(client: kafkajs.Kafka, groupId: string): Promise<void> {
  const consumer = client.consumer({ groupId });
  const words: (string | undefined)[] = [];
  await consumer.connect();
  try {
    await consumer.subscribe({ topic: "words", fromBeginning: true });
    await consumer.run({ eachMessage: async ({ message }) => void words.push(message.value?.toString()) });
    await eventually(() => expect(words).toEqual(["hello"]), 120_000);
  } finally {
    await consumer.disconnect();
  }
}

test("MinIO answers, refuses a wrong credential, and comes back after a kill", async () => {
  const minio = await startMinio();
  try {
    expect((await fetch(`${minio.endpoint}/bucket`)).status).toBe(403);
    await minio.kill();
    await expect(fetch(minio.endpoint)).rejects.toThrow();
    await minio.restart();
    expect((await fetch(`${minio.endpoint}/minio/health/live`)).status).toBe(200);
    expect(readdirSync(minio.dataDir)).toContain(".minio.sys");
  } finally {
    await minio.stop();
  }
});
