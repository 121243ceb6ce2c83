export { consumeEvents, type ReceivedEvent } from "./consumer.ts";
export { type CloudEvent, cloudEventOf, type EventMessage, expand, type OutboxRow } from "./expand.ts";
export type { KafkaSettings } from "./kafka.ts";
export { readWaitingSince } from "./outbox.sql.ts";
export { createRelay, type Relay, type RelayLog, type RelayOptions, relayJob } from "./relay.ts";
