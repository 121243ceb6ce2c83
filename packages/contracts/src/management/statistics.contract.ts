import { z } from "zod";
import { ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";

const counts = z.record(z.string(), z.int()).meta({ description: "Upper-case status to count, and `total`" });

/** The use of a set (spec 001 §4.1.3; contract management.md §4.1); all members are present, with zeros where nothing is counted. */
export const setStatisticsView = z
  .object({ actions: counts, rollouts: counts, totalAutoAssignments: z.int() })
  .meta({ id: "DistributionSetStatistics" });
export type SetStatisticsView = z.output<typeof setStatisticsView>;

/** A part of the statistics; it is empty if there is nothing to count (contract management.md §4.1). */
export const setStatisticsPartView = setStatisticsView.partial().meta({ id: "DistributionSetStatisticsPart" });
export type SetStatisticsPartView = z.output<typeof setStatisticsPartView>;

const common = {
  service: "management",
  interface: "management",
  method: "GET",
  params: z.object({ distributionSetId: pathId }),
  success: ok,
  permission: ["READ_REPOSITORY"],
  errors: ["entityNotFound"],
  source: "spec 001 §4.1",
} as const;
const path = "/distributionsets/:distributionSetId/statistics";

/** The statistics of distribution sets (spec 001 §4.1). */
export const setStatistics = routesOf("distributionSets", common, {
  statistics: {
    path,
    response: setStatisticsView,
    summary: "Count actions, rollouts and auto-assignments of a distribution set",
  },
  rolloutStatistics: {
    path: `${path}/rollouts`,
    response: setStatisticsPartView,
    summary: "Count the rollouts of a distribution set by their status",
  },
  actionStatistics: {
    path: `${path}/actions`,
    response: setStatisticsPartView,
    summary: "Count the actions of a distribution set by their status",
  },
  autoAssignmentStatistics: {
    path: `${path}/autoassignments`,
    response: setStatisticsPartView,
    summary: "Count the target filters that assign a distribution set by themselves",
  },
});
