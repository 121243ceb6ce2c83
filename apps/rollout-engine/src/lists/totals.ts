import type { FrozenSafety, RolloutView, TotalsView } from "@harrier/contracts";
import { optional } from "@harrier/query";
import { actionsIn, type BucketCounts } from "../domain/facts.ts";

/** Answers the buckets of a rollout or group; targets without an action are the remainder (contract rollouts.md §4.10). */
export function totalsOf(totalTargets: number, counts: BucketCounts): TotalsView {
  const { scheduled, running, finished, error, cancelled } = counts;
  return { running, notstarted: Math.max(0, totalTargets - actionsIn(counts)), scheduled, cancelled, finished, error };
}

/** Answers the policy of a rollout or group with what it counts beside its status, both only with a policy (contract beyond.md §1.4). */
export function safetyOf({
  safety,
  counts,
}: {
  safety: FrozenSafety | null;
  counts: BucketCounts;
}): Pick<RolloutView, "safety" | "safetyCounts"> {
  const { proving = 0, silent = 0, retrying = 0 } = counts;
  return { ...optional("safety", safety), ...(safety && { safetyCounts: { proving, silent, retrying } }) };
}
