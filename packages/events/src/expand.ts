import { actionStatus, actionStatusNames, eventTypes, forceTypeNames, type Topic } from "@harrier/contracts";

/**
 * One row of an owner's outbox. It is self-contained: an event states what was true at that change, whatever is renamed or deleted before the relay
 * sends it.
 */
export interface OutboxRow {
  id: string;
  txid: string;
  topic: Topic;
  /** A CloudEvents type; rows of action-events that say created, changed or reported leave the choice to each item. */
  type: string;
  common: Record<string, unknown> & { tenant: string };
  items: readonly unknown[];
  traceparent: string | null;
  /** The commit time in epoch ms. */
  at: number;
}

export interface EventMessage {
  topic: Topic;
  key: string;
  value: string;
  headers: Record<string, string>;
}

/** One element of `items` in a rollout-events, target-events, catalogue-events or webhook-events row. */
interface PlainItem {
  type?: string;
  subject: string;
  sequence: number;
  key?: string;
  data?: Record<string, unknown>;
}

/**
 * One element of `items` in an action-events row. It is an array to stay small, because a chunk of a rollout carries thousands. [actionId,
 * controllerId, sequence, previousStatus, status, active, forceType, weight, code, messages, occurredAt, entryStatus, safety?, claimedAt?]; the last one is
 * for the owner of the outbox alone.
 */
type ActionItem = readonly [
  number,
  string,
  number,
  number | null,
  number,
  boolean,
  number,
  number,
  number | null,
  readonly string[] | null,
  number,
  number,
  (Readonly<Record<string, unknown>> | null)?,
  (number | null)?,
];

const chosenPerItem: ReadonlySet<string> = new Set([
  eventTypes.actionCreated,
  eventTypes.actionStatusChanged,
  eventTypes.actionStatusReported,
]);

/** Answers an id that is stable for (outbox row, place in it): a message that is sent twice keeps its id, so that consumers can drop it. */
export function eventId(schema: string, outboxId: string, index: number): string {
  return `${schema}-${outboxId}-${index}`;
}

/** Makes the CloudEvent 1.0 of one item of an outbox row. It is a pure function. */
export function cloudEventOf(schema: string, row: OutboxRow, index: number): CloudEvent {
  return cloudEvent(schema, row, { index, event: eventOf(row, index) });
}

/**
 * Expands one outbox row to its Kafka messages, CloudEvents 1.0 in structured JSON. It is a pure function.
 * @param hop The traceparent of the sending itself; without it that of the change is in the header too.
 */
export function expand(schema: string, row: OutboxRow, hop: string | null = row.traceparent): EventMessage[] {
  return row.items.map((_, index) => {
    const event = eventOf(row, index);
    const headers: Record<string, string> = { "content-type": "application/cloudevents+json; charset=UTF-8" };
    if (hop) headers["traceparent"] = hop;
    const value = JSON.stringify(cloudEvent(schema, row, { index, event }));
    return { topic: row.topic, key: `${row.common.tenant}/${event.key}`, value, headers };
  });
}

/** A CloudEvent as clients get it. */
export type CloudEvent = Readonly<Record<string, unknown>> & { readonly type: string };

function cloudEvent(schema: string, row: OutboxRow, { index, event }: { index: number; event: Expanded }): CloudEvent {
  return {
    specversion: "1.0",
    id: eventId(schema, row.id, index),
    source: `/tenants/${row.common.tenant}/updates`,
    type: event.type,
    subject: event.subject,
    time: new Date(row.at).toISOString(),
    tenant: row.common.tenant,
    sequence: String(event.sequence),
    datacontenttype: "application/json",
    ...(row.traceparent ? { traceparent: row.traceparent } : {}),
    data: event.data,
  };
}

function eventOf(row: OutboxRow, index: number): Expanded {
  const item = row.items[index];
  return row.topic === "action-events" ? actionEvent(row, item as ActionItem) : plainEvent(row, item as PlainItem);
}

interface Expanded {
  type: string;
  subject: string;
  key: string;
  sequence: number;
  data: Record<string, unknown>;
}

function actionEvent(row: OutboxRow, item: ActionItem): Expanded {
  const [actionId, controllerId, sequence, previous, status, active, forceType, weight, code, messages, occurredAt, entry, safety] = item;
  return {
    type: chosenPerItem.has(row.type) ? actionType(item) : row.type,
    subject: `targets/${controllerId}/actions/${actionId}`,
    key: controllerId,
    sequence,
    data: {
      ...row.common,
      actionId,
      controllerId,
      previousStatus: previous === null ? null : name(actionStatusNames, previous),
      status: name(actionStatusNames, status),
      entryStatus: name(actionStatusNames, entry),
      active,
      type: status === actionStatus.CANCELING || status === actionStatus.CANCELED ? "cancel" : "update",
      forceType: name(forceTypeNames, forceType),
      weight,
      ...(code === null ? {} : { code }),
      messages: messages ?? [],
      ...(safety ? { safety } : {}),
      occurredAt,
      recordedAt: row.at,
    },
  };
}

/** Where a device's report or retrieval makes its action count otherwise, that is what the event is about; the status is in its data all the same. */
function actionType([, , sequence, previous, status, , , , , , , , safety]: ActionItem): string {
  if (sequence === 1) return eventTypes.actionCreated;
  if (safety?.["nextAttemptAt"] !== undefined) return eventTypes.actionRetryChanged;
  if (safety?.["silent"] === false) return eventTypes.actionSilenceChanged;
  return previous === status ? eventTypes.actionStatusReported : eventTypes.actionStatusChanged;
}

function plainEvent(row: OutboxRow, item: PlainItem): Expanded {
  const key = item.key ?? keyOf(row, item);
  return {
    type: item.type ?? row.type,
    subject: item.subject,
    key,
    sequence: item.sequence,
    data: { ...row.common, ...item.data, recordedAt: row.at },
  };
}

function keyOf(row: OutboxRow, item: PlainItem): string {
  // sets and modules have ids of their own, which may be the same
  if (row.topic === "catalogue-events" || row.topic === "webhook-events") return item.subject;
  const own = row.topic === "rollout-events" ? row.common["rolloutId"] : item.data?.["controllerId"];
  return String(own ?? item.subject.split("/")[1] ?? item.subject);
}

function name(names: readonly string[], code: number): string {
  return (names[code] ?? String(code)).toLowerCase();
}
