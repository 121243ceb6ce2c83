import { rolloutStatusNames } from "@harrier/contracts";
import type { RolloutStatus } from "../domain/facts.ts";

/** Statuses from which a rollout can be stopped (contract rollouts.md §4.1). */
export const stoppable: readonly RolloutStatus[] = [
  "creating",
  "ready",
  "waiting_for_approval",
  "approval_denied",
  "starting",
  "running",
  "paused",
];

/** Statuses from which a rollout can be deleted: all but those that deleting it leads to. */
export const deletable: readonly RolloutStatus[] = rolloutStatusNames.filter((status) => status !== "deleting" && status !== "deleted");
