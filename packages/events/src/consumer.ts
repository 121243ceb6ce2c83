import type { Topic } from "@harrier/contracts";
import type { Consumer } from "kafkajs";
import type { KafkaSettings } from "./kafka.ts";

/** A CloudEvent as it is stored on a topic. */
export interface ReceivedEvent {
  topic: string;
  key: string;
  id: string;
  type: string;
  subject: string;
  sequence: number;
  tenant: string;
  traceparent?: string;
  data: Record<string, unknown>;
}

/**
 * Reads topics from the beginning and passes each event to `onEvent` in partition order. Delivery is at least once, so repeated `id`s must be
 * dropped. `stop()` leaves the group.
 */
export async function consumeEvents(
  settings: KafkaSettings & { groupId: string; topics: readonly Topic[] },
  onEvent: (event: ReceivedEvent) => void | Promise<void>,
): Promise<{ stop(): Promise<void> }> {
  // whoever only relays or expands events does not load the client of Kafka
  const { createKafka } = await import("./kafka.ts");
  const consumer: Consumer = createKafka(settings).consumer({ groupId: settings.groupId, readUncommitted: false });
  await consumer.connect();
  await consumer.subscribe({ topics: [...settings.topics], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ topic, message }) => {
      if (!message.value) return;
      const e = JSON.parse(message.value.toString()) as Record<string, unknown>;
      await onEvent({
        topic,
        key: message.key?.toString() ?? "",
        id: String(e["id"]),
        type: String(e["type"]),
        subject: String(e["subject"]),
        sequence: Number(e["sequence"]),
        tenant: String(e["tenant"]),
        ...(typeof e["traceparent"] === "string" ? { traceparent: e["traceparent"] } : {}),
        data: (e["data"] ?? {}) as Record<string, unknown>,
      });
    },
  });
  return { stop: () => consumer.disconnect() };
}
