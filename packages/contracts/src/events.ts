import { z } from "zod";
import { forceTypeNames, proofEnds, proofSources, rolloutGroupStatusNames, rolloutStatusNames } from "./codes.ts";
import { actionStatusWords } from "./management/action-view.ts";
import { totalsView } from "./management/rollout-view.ts";

/** The Kafka topics (contract rollouts.md §7.2). */
export const topics = {
  action: "action-events",
  rollout: "rollout-events",
  target: "target-events",
  catalogue: "catalogue-events",
  webhook: "webhook-events",
} as const;
export type Topic = (typeof topics)[keyof typeof topics];

/** The types of CloudEvents; a breaking change of the data would get a new suffix. */
export const eventTypes = {
  actionCreated: "io.update.action.created.v1",
  actionStatusChanged: "io.update.action.status_changed.v1",
  actionStatusReported: "io.update.action.status_reported.v1",
  actionForced: "io.update.action.forced.v1",
  actionProofChanged: "io.update.action.proof_changed.v1",
  actionSilenceChanged: "io.update.action.silence_changed.v1",
  actionRetryChanged: "io.update.action.retry_changed.v1",
  actionDeleted: "io.update.action.deleted.v1",
  rolloutCreated: "io.update.rollout.created.v1",
  rolloutChanged: "io.update.rollout.changed.v1",
  rolloutStatusChanged: "io.update.rollout.status_changed.v1",
  rolloutDeleted: "io.update.rollout.deleted.v1",
  rolloutGroupCreated: "io.update.rollout_group.created.v1",
  rolloutGroupStatusChanged: "io.update.rollout_group.status_changed.v1",
  targetCreated: "io.update.target.created.v1",
  targetAttributesChanged: "io.update.target.attributes_changed.v1",
  targetChanged: "io.update.target.changed.v1",
  targetDeleted: "io.update.target.deleted.v1",
  setCreated: "io.update.distribution_set.created.v1",
  setChanged: "io.update.distribution_set.changed.v1",
  setDeleted: "io.update.distribution_set.deleted.v1",
  moduleCreated: "io.update.software_module.created.v1",
  moduleChanged: "io.update.software_module.changed.v1",
  moduleDeleted: "io.update.software_module.deleted.v1",
  webhookDisabled: "io.update.webhook.disabled.v1",
  webhookEventsSkipped: "io.update.webhook.events_skipped.v1",
} as const;
export type EventType = (typeof eventTypes)[keyof typeof eventTypes];

/**
 * A word of an open list: consumers that validate must not break at the first new one. `examples` are the words of today, and
 * scripts/checks/event-schemas.mjs sees to it that they only become more.
 */
const openWord = (words: readonly string[], pattern = /^[a-z][a-z_]*$/) =>
  z
    .string()
    .regex(pattern)
    .meta({ examples: [...words], description: "There may be more words than those named" });

const statusWord = openWord(actionStatusWords);
const distributionSet = z.object({ id: z.int(), name: z.string().optional(), version: z.string().optional() });

/** The data of an action event, which a consumer understands without a look-up (contract rollouts.md §7.2). */
export const actionEventData = z
  .object({
    tenant: z.string(),
    actionId: z.int(),
    controllerId: z.string(),
    distributionSet,
    rolloutId: z.int().nullish(),
    rolloutGroupId: z.int().nullish(),
    previousStatus: statusWord.nullable(),
    status: statusWord,
    entryStatus: statusWord.meta({ description: "Status of the history entry; differs from `status` for mere progress" }),
    active: z.boolean(),
    type: z.enum(["update", "cancel"]),
    forceType: z.enum(forceTypeNames),
    weight: z.int(),
    code: z.int().optional(),
    messages: z.array(z.string()),
    safety: z
      .looseObject({
        proof: openWord(proofEnds).optional(),
        by: openWord(proofSources, /^[a-z][A-Za-z]*$/).optional(),
        silent: z.boolean().optional(),
        reason: openWord(["timeout", "unproven", "refuted", "quota", "stopped", "set", "other"]).optional(),
        attempt: z.int().optional(),
        retryOf: z.int().optional(),
        nextAttemptAt: z.int().optional(),
      })
      .optional()
      .meta({ description: "What the watch of an action with a safety policy says; only with one" }),
    initiatedBy: z.string().nullish(),
    occurredAt: z.int().meta({ description: "Epoch ms by the device's clock where it told one" }),
    recordedAt: z.int().meta({ description: "Epoch ms of the commit" }),
  })
  .meta({ id: "ActionEventData" });
export type ActionEventData = z.output<typeof actionEventData>;

const rolloutWord = openWord([...new Set([...rolloutStatusNames, ...rolloutGroupStatusNames])]);

/** The data of a rollout or group event. Members may be added, so unknown ones pass through. */
export const rolloutEventData = z
  .looseObject({
    tenant: z.string(),
    rolloutId: z.int(),
    name: z.string(),
    groupId: z.int().optional(),
    previousStatus: rolloutWord.nullish(),
    status: rolloutWord.optional(),
    reason: openWord(["user", "schedule", "error_threshold", "success_pause", "invalidation", "quota"]).optional(),
    actor: z.string().optional(),
    totals: totalsView.optional(),
    changed: z.array(z.string()).optional().meta({ description: "What a person has changed: `name`, `description`" }),
    recordedAt: z.int(),
  })
  .meta({ id: "RolloutEventData" });
export type RolloutEventData = z.output<typeof rolloutEventData>;

/** The data of a target event, which never contains the security token. */
export const targetEventData = z
  .looseObject({ tenant: z.string(), controllerId: z.string(), recordedAt: z.int() })
  .meta({ id: "TargetEventData" });
export type TargetEventData = z.output<typeof targetEventData>;

/** The data of an event of a distribution set or a software module: which one, what it is called, and its state after the change. */
export const catalogueEventData = z
  .looseObject({
    tenant: z.string(),
    distributionSetId: z.int().optional(),
    softwareModuleId: z.int().optional(),
    name: z.string(),
    version: z.string(),
    typeId: z.int(),
    complete: z.boolean().optional(),
    valid: z.boolean().optional(),
    locked: z.boolean(),
    initiatedBy: z.string().nullish(),
    recordedAt: z.int(),
  })
  .meta({ id: "CatalogueEventData" });
export type CatalogueEventData = z.output<typeof catalogueEventData>;

/** The data of an event of a webhook: why deliveries to it have ended, or which events it does not get. */
export const webhookEventData = z
  .looseObject({
    tenant: z.string(),
    webhookId: z.int(),
    name: z.string(),
    reason: openWord(["failures", "gone", "expired"]),
    lastError: z.string().nullish(),
    skippedFrom: z.int().optional().meta({ description: "Epoch ms from which on events may be missing" }),
    skippedTo: z.int().optional().meta({ description: "Epoch ms up to which events may be missing" }),
    recordedAt: z.int(),
  })
  .meta({ id: "WebhookEventData" });
export type WebhookEventData = z.output<typeof webhookEventData>;

/** The pattern of the types of a topic: what the types are about is fixed, what happens to it is open. */
function typesOf(types: readonly EventType[]): RegExp {
  const kinds = new Set(types.map((type) => type.split(".")[2]));
  return new RegExp(`^io\\.update\\.(${[...kinds].join("|")})\\.[a-z_]+\\.v\\d+$`);
}

/** Makes a schema of CloudEvents 1.0 in structured JSON; `sequence` counts the changes of one subject without a gap, starting at 1. */
function cloudEvent<T extends readonly [EventType, ...EventType[]], D extends z.ZodType>(types: T, data: D) {
  return z.object({
    specversion: z.literal("1.0"),
    id: z.string(),
    source: z.string(),
    type: openWord(types, typesOf(types)),
    subject: z.string(),
    time: z.iso.datetime(),
    tenant: z.string(),
    sequence: z.string().regex(/^\d+$/),
    datacontenttype: z.literal("application/json"),
    traceparent: z.string().optional(),
    data,
  });
}

export const actionEvent = cloudEvent(
  [
    eventTypes.actionCreated,
    eventTypes.actionStatusChanged,
    eventTypes.actionStatusReported,
    eventTypes.actionForced,
    eventTypes.actionProofChanged,
    eventTypes.actionSilenceChanged,
    eventTypes.actionRetryChanged,
    eventTypes.actionDeleted,
  ],
  actionEventData,
).meta({ id: "ActionEvent" });

export const rolloutEvent = cloudEvent(
  [
    eventTypes.rolloutCreated,
    eventTypes.rolloutChanged,
    eventTypes.rolloutStatusChanged,
    eventTypes.rolloutDeleted,
    eventTypes.rolloutGroupCreated,
    eventTypes.rolloutGroupStatusChanged,
  ],
  rolloutEventData,
).meta({ id: "RolloutEvent" });

export const targetEvent = cloudEvent(
  [eventTypes.targetCreated, eventTypes.targetAttributesChanged, eventTypes.targetChanged, eventTypes.targetDeleted],
  targetEventData,
).meta({ id: "TargetEvent" });

export const catalogueEvent = cloudEvent(
  [
    eventTypes.setCreated,
    eventTypes.setChanged,
    eventTypes.setDeleted,
    eventTypes.moduleCreated,
    eventTypes.moduleChanged,
    eventTypes.moduleDeleted,
  ],
  catalogueEventData,
).meta({ id: "CatalogueEvent" });

export const webhookEvent = cloudEvent([eventTypes.webhookDisabled, eventTypes.webhookEventsSkipped], webhookEventData).meta({
  id: "WebhookEvent",
});

export type ActionEvent = z.output<typeof actionEvent>;
export type RolloutEvent = z.output<typeof rolloutEvent>;
export type TargetEvent = z.output<typeof targetEvent>;

/** The schema of the messages of each topic. */
export const eventsOfTopic = {
  "action-events": actionEvent,
  "rollout-events": rolloutEvent,
  "target-events": targetEvent,
  "catalogue-events": catalogueEvent,
  "webhook-events": webhookEvent,
} as const;

/** The JSON Schema (2020-12) of the messages of a topic, as it is committed under docs/api/events. */
export function eventSchemaOf(topic: Topic): Record<string, unknown> {
  return z.toJSONSchema(eventsOfTopic[topic], { io: "input" }) as Record<string, unknown>;
}
