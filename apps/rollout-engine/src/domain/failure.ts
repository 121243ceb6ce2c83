import { failureMessage as messageFor } from "@harrier/errors";

/** Why background work fails, as its owner shows it (contract rollouts.md §9 no. 3). The work is retried by itself. */
export interface Failure {
  message: string;
  /** The time of the newest attempt, in epoch ms. */
  at: number;
  /** So many attempts in a row have failed; a step that succeeds clears the failure. */
  attempts: number;
}

/** Answers what users may read of an error. */
export const failureMessage = (error: unknown): string => messageFor(error, "the rollout engine");
