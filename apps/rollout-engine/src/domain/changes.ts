import type { GroupFacts, GroupStatus, RolloutStatus } from "./facts.ts";

/** Why a rollout changed its status, as events tell it (contract rollouts.md §7.2); absent for the plain course of things. */
export type Reason = "user" | "schedule" | "error_threshold" | "success_pause" | "invalidation" | "quota";

export interface GroupChange {
  id: number;
  from: GroupStatus;
  /** Absent: only its turn is noted. */
  to?: GroupStatus;
  requestStart?: true;
}

export interface RolloutChange {
  /** Absent: whichever of the expected statuses it is in. */
  from?: RolloutStatus;
  to: RolloutStatus;
  reason?: Reason;
  /** The group that caused it. */
  groupId?: number;
  /** Who decided about its approval, and what was said to it; without a remark an earlier one stays. */
  decision?: { by: string; remark?: string | undefined };
}

/** What becomes of the groups of a rollout that was stopped or deleted (contract rollouts.md §4.2). */
export function groupsToFinish(groups: readonly Pick<GroupFacts, "id" | "status">[]): GroupChange[] {
  return groups
    .filter(({ status }) => status !== "finished" && status !== "error")
    .map(({ id, status }) => ({ id, from: status, to: "finished" }) as const);
}
