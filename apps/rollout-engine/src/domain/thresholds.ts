import { type BucketCounts, failedOf, type SafetyCounting } from "./facts.ts";

/** A threshold is a whole percentage; anything else is refused when a rollout is created (contract rollouts.md §4.5). */
const thresholdPattern = /^\d{1,9}$/;

function percents(expression: string): number | undefined {
  return thresholdPattern.test(expression) ? Number(expression) : undefined;
}

const float = Math.fround;

/** Answers a part in percent with four decimals, enough to tell one target in a million from none; undefined if there is nothing to compare with. */
export function percentOf(part: number, total: number): number | undefined {
  return total > 0 ? Math.round((part / total) * 1_000_000) / 10_000 : undefined;
}

/** Whether enough of the group has finished; an empty group always meets it. The quotient is a 32-bit float, as clients expect. */
export function successMet(expression: string, counts: BucketCounts, total: number): boolean {
  const threshold = percents(expression);
  if (threshold === undefined) return false;
  return total === 0 || float(counts.finished / total) >= float(threshold / 100);
}

/** Whether more of the group has failed than is allowed. It must be strictly more: 0 trips at the first error and 100 never. */
export function errorMet(expression: string, counts: BucketCounts, total: number, safety?: SafetyCounting | null): boolean {
  const threshold = percents(expression);
  if (threshold === undefined || total === 0) return false;
  return float(failedOf(counts, safety) / total) > float(threshold / 100);
}
