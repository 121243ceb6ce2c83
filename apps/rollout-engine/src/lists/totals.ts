import type { TotalsView } from "@harrier/contracts";
import { actionsIn, type BucketCounts } from "../domain/facts.ts";

/** Answers the buckets of a rollout or group; targets without an action are the remainder (contract rollouts.md §4.10). */
export function totalsOf(totalTargets: number, counts: BucketCounts): TotalsView {
  const { scheduled, running, finished, error, cancelled } = counts;
  return { running, notstarted: Math.max(0, totalTargets - actionsIn(counts)), scheduled, cancelled, finished, error };
}
