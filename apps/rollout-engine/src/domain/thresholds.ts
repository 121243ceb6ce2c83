import type { BucketCounts } from "./facts.ts";

/** Whole percents; anything else is refused when a rollout is created (contract rollouts.md §4.5). */
const thresholdPattern = /^\d{1,9}$/;

function percents(expression: string): number | undefined {
  return thresholdPattern.test(expression) ? Number(expression) : undefined;
}

const float = Math.fround;

/** Enough of the group has finished; an empty group always has. The quotient is that of 32-bit floats, as clients know it. */
export function successMet(expression: string, counts: BucketCounts, total: number): boolean {
  const threshold = percents(expression);
  if (threshold === undefined) return false;
  return total === 0 || float(counts.finished / total) >= float(threshold / 100);
}

/** More of the group than allowed has failed: strictly more, so 0 trips at the first error and 100 never. */
export function errorMet(expression: string, counts: BucketCounts, total: number): boolean {
  const threshold = percents(expression);
  if (threshold === undefined || total === 0) return false;
  return float(counts.error / total) > float(threshold / 100);
}
