import type { EventType } from "@harrier/contracts";

/** What each event tells; a type that is added to the interface is missed here by the compiler. */
export const eventWords: Readonly<Record<EventType, string>> = {
  "io.update.action.created.v1": "An update begins",
  "io.update.action.status_changed.v1": "The status of an update changes",
  "io.update.action.status_reported.v1": "A device reports on an update",
  "io.update.action.forced.v1": "An update is forced",
  "io.update.action.proof_changed.v1": "A device proves what it runs, or does not",
  "io.update.action.silence_changed.v1": "A device falls silent in an update, or speaks again",
  "io.update.action.retry_changed.v1": "An update is tried again",
  "io.update.rollout.created.v1": "A rollout is created",
  "io.update.rollout.status_changed.v1": "The status of a rollout changes",
  "io.update.rollout.deleted.v1": "A rollout is deleted",
  "io.update.rollout_group.created.v1": "A group of a rollout is created",
  "io.update.rollout_group.status_changed.v1": "The status of a group changes",
  "io.update.target.created.v1": "A device is created",
  "io.update.target.attributes_changed.v1": "The attributes of a device change",
  "io.update.target.changed.v1": "A device changes",
  "io.update.target.deleted.v1": "A device is deleted",
  "io.update.distribution_set.created.v1": "A set is created",
  "io.update.distribution_set.changed.v1": "A set changes",
  "io.update.distribution_set.deleted.v1": "A set is deleted",
  "io.update.software_module.created.v1": "A module is created",
  "io.update.software_module.changed.v1": "A module changes",
  "io.update.software_module.deleted.v1": "A module is deleted",
  "io.update.webhook.disabled.v1": "The deliveries of a webhook end",
  "io.update.webhook.events_skipped.v1": "A webhook misses events that are not kept any more",
};
