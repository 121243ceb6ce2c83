import { z } from "zod";
import { rolloutGroupStatusNames, rolloutStatusNames } from "../codes.ts";
import { pageOf, plainPageQuery } from "../paging.ts";
import { ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";
import { plainListErrors } from "./common.ts";
import { statusReasons, totalsView } from "./rollout-view.ts";

const groupName = z.object({ id: z.int(), name: z.string() }).meta({ id: "RolloutStepGroup" });

/** A change of the status of a rollout, or of one of its groups (contract console.md §2). */
export const rolloutStep = z
  .object({
    /** That of its event, so 1, 2, 3 … through the rollout and its groups. */
    sequence: z.int(),
    at: z.int(),
    actor: z.string(),
    /** The group that changed; absent where the rollout itself did. */
    group: groupName.optional(),
    /** Absent where the rollout or group was created. */
    previousStatus: z.enum([...rolloutStatusNames, ...rolloutGroupStatusNames]).optional(),
    status: z.enum([...rolloutStatusNames, ...rolloutGroupStatusNames]),
    reason: z.enum(statusReasons).optional(),
    /** The group whose threshold decided. */
    causedBy: groupName.optional(),
    value: z.number().optional(),
    limit: z.number().optional(),
    remark: z.string().optional(),
    totalTargets: z.int().optional(),
    /** Those of the group or of the rollout at that moment; absent while it has no actions. */
    totalTargetsPerStatus: totalsView.optional(),
  })
  .meta({ id: "RolloutStep" });
export type RolloutStep = z.output<typeof rolloutStep>;

/** What has happened to a rollout (contract console.md §2). */
export const rolloutTimelines = routesOf(
  "rollouts",
  { service: "rollout-engine", interface: "management", source: "contract console.md §2" },
  {
    timeline: {
      method: "GET",
      path: "/rollouts/:rolloutId/timeline",
      params: z.object({ rolloutId: pathId }),
      query: plainPageQuery,
      success: ok,
      response: pageOf(rolloutStep),
      permission: ["READ_ROLLOUT"],
      errors: [...plainListErrors, "entityNotFound"],
      summary: "List what has happened to a rollout and its groups: every change of a status, who caused it and why",
    },
  },
);
