import { isOver } from "@harrier/contracts";
import type { GroupFacts, RolloutFacts } from "./facts.ts";

/** Answers how many targets a dynamic group takes. */
export const capacityOf = ({ targetCount }: Pick<GroupFacts, "targetCount">): number => Math.max(1, targetCount);

const isClosed = ({ status }: GroupFacts): boolean => status === "finished" || status === "error";
const isFull = (group: GroupFacts): boolean => !group.lags && group.totalTargets >= capacityOf(group);

/** Whether the tenant's quota allows one more group. */
export function mayGrow({ dynamic, maxGroups }: RolloutFacts, groups: readonly GroupFacts[]): boolean {
  return dynamic && !isOver(maxGroups, groups.length + 1);
}

/** Whether a dynamic rollout needs another group, because no target can join the last one any more (contract rollouts.md §4.6, next group). */
export function wantsGroup(rollout: RolloutFacts, groups: readonly GroupFacts[]): boolean {
  const last = groups.at(-1);
  return last !== undefined && mayGrow(rollout, groups) && (isClosed(last) || isFull(last));
}

/** Whether a group never completes. That is the last group of a dynamic rollout (§4.6, end), unless it is full and no further one is allowed. */
export function staysOpen(rollout: RolloutFacts, groups: readonly GroupFacts[], group: GroupFacts): boolean {
  return rollout.dynamic && group === groups.at(-1) && (mayGrow(rollout, groups) || !isFull(group));
}

/** Answers the total that a group's thresholds refer to: the last running group, if dynamic, counts as if it were full (§4.5, dynamic). */
export function expectedTotal(groups: readonly GroupFacts[], group: GroupFacts): number {
  const lastRunning = groups.findLast(({ status }) => status === "running");
  return group.dynamic && group === lastRunning ? capacityOf(group) : group.totalTargets;
}
