import type { SetStatisticsPartView, SetStatisticsView } from "@harrier/contracts";
import type { Counts, SetStatistics } from "./statistics.ts";

/** Renders all statistics, with zeros where there is nothing to count (contract management.md §4.1). */
export function statisticsJson({ actions, rollouts, autoAssignments }: SetStatistics): SetStatisticsView {
  return { actions: withTotal(actions), rollouts: withTotal(rollouts), totalAutoAssignments: autoAssignments };
}

/** Renders one part of the statistics as an object, which is empty where there is nothing to count (contract management.md §4.1). */
export function partJson(statistics: SetStatistics, part: keyof SetStatistics): SetStatisticsPartView {
  if (part === "autoAssignments") return statistics.autoAssignments === 0 ? {} : { totalAutoAssignments: statistics.autoAssignments };
  const counts = statistics[part];
  return Object.keys(counts).length === 0 ? {} : { [part]: withTotal(counts) };
}

function withTotal(counts: Counts): Record<string, number> {
  return { ...counts, total: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}
