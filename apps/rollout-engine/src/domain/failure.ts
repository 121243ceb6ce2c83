import { failureMessage as messageFor } from "@harrier/errors";

/** Why background work does not get on, as its owner shows it (contract rollouts.md §9 no. 3). It is tried again by itself. */
export interface Failure {
  message: string;
  /** Epoch ms of the newest attempt. */
  at: number;
  /** In a row; a step that succeeds clears them. */
  attempts: number;
}

const firstBackoffMs = 250;
const longestBackoffMs = 15_000;

/** How long to leave alone what has failed `attempts` times in a row. */
export function backoffMs(attempts: number): number {
  return Math.min(firstBackoffMs * 2 ** Math.min(attempts - 1, 10), longestBackoffMs);
}

/** What users may read of an error. */
export const failureMessage = (error: unknown): string => messageFor(error, "the rollout engine");
