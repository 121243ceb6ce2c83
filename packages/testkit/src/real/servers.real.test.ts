import { readdirSync } from "node:fs";
import kafkajs from "kafkajs";
import { expect, test } from "vitest";
import { startKafka } from "./kafka.ts";
import { startMinio } from "./minio.ts";

test("Kafka takes transactional messages, and has them after a kill and a restart", async () => {
  const kafka = await startKafka();
  try {
    const client = new kafkajs.Kafka({ clientId: "test", brokers: [kafka.brokers], logLevel: kafkajs.logLevel.NOTHING });
    const producer = client.producer({ transactionalId: "test", idempotent: true, maxInFlightRequests: 1 });
    await client.admin().createTopics({ topics: [{ topic: "words" }] });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: "words", acks: -1, messages: [{ key: "k", value: "hello" }] });
    await transaction.commit();
    await producer.disconnect();
    await kafka.kill();
    await kafka.restart();
    const consumer = client.consumer({ groupId: "test" });
    await consumer.connect();
    await consumer.subscribe({ topic: "words", fromBeginning: true });
    const word = await new Promise((resolve) => {
      void consumer.run({ eachMessage: async ({ message }) => resolve(message.value?.toString()) });
    });
    await consumer.disconnect();
    expect(word).toBe("hello");
  } finally {
    await kafka.stop();
  }
});

test("MinIO answers, refuses a stranger, and comes back after a kill", async () => {
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
