import type { GroupStatus, RolloutStatus } from "./facts.ts";

/** Why a rollout changed its status, as events tell it (contract rollouts.md §7.2); absent for the plain course of things. */
export type Reason = "user" | "schedule" | "error_threshold" | "success_pause" | "invalidation";

export interface GroupChange {
  id: number;
  from: GroupStatus;
  /** Absent: only its turn is noted. */
  to?: GroupStatus;
  requestStart?: true;
}

export interface RolloutChange {
  from: RolloutStatus;
  to: RolloutStatus;
  reason?: Reason;
  /** The group that caused it. */
  groupId?: number;
}
