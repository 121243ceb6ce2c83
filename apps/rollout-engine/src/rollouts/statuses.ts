import { rolloutStatusNames } from "@harrier/contracts";
import type { RolloutStatus } from "../domain/facts.ts";

/** A rollout can be stopped in these statuses (contract rollouts.md §4.1). */
export const stoppable: readonly RolloutStatus[] = [
  "creating",
  "ready",
  "waiting_for_approval",
  "approval_denied",
  "starting",
  "running",
  "paused",
];

/** A rollout can be deleted in these statuses: all but those of a deletion. */
export const deletable: readonly RolloutStatus[] = rolloutStatusNames.filter((status) => status !== "deleting" && status !== "deleted");
