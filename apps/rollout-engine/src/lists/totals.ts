import type { TotalsView } from "@harrier/contracts";
import { actionsIn, type BucketCounts } from "../domain/facts.ts";

/** Buckets of a rollout or group, with what has no action yet as the remainder (contract rollouts.md §4.10). */
export function totalsOf(totalTargets: number, counts: BucketCounts): TotalsView {
  const { scheduled, running, finished, error, cancelled } = counts;
  return { running, notstarted: Math.max(0, totalTargets - actionsIn(counts)), scheduled, cancelled, finished, error };
}
