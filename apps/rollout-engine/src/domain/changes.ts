import type { GroupFacts, GroupStatus, RolloutStatus } from "./facts.ts";

/** Events carry this reason for a change of a rollout's status (contract rollouts.md §7.2). It is absent in the regular course. */
export type Reason = "user" | "schedule" | "error_threshold" | "success_pause" | "invalidation" | "quota";

export interface GroupChange {
  id: number;
  from: GroupStatus;
  /** Without it only the request to start is stored. */
  to?: GroupStatus;
  requestStart?: true;
}

/** A value beside the limit that it has reached or passed, both in the unit of the reason. */
export interface Measured {
  value: number;
  limit: number;
}

export interface RolloutChange {
  /** Without it the rollout may be in any of the expected statuses. */
  from?: RolloutStatus;
  to: RolloutStatus;
  reason?: Reason;
  /** This group caused the change. */
  groupId?: number;
  /** What was compared with which limit: percent of the group for a threshold, groups for a quota. */
  measured?: Measured;
  /** Who decided about the approval, and with which remark; without a remark an earlier one stays. */
  decision?: { by: string; remark?: string | undefined };
}

/** Answers the changes that finish the groups of a rollout that was stopped or deleted (contract rollouts.md §4.2). */
export function groupsToFinish(groups: readonly Pick<GroupFacts, "id" | "status">[]): GroupChange[] {
  return groups
    .filter(({ status }) => status !== "finished" && status !== "error")
    .map(({ id, status }) => ({ id, from: status, to: "finished" }) as const);
}
