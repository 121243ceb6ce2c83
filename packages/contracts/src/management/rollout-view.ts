import { z } from "zod";
import { forceTypeNames, rolloutGroupStatusNames, rolloutStatusNames } from "../codes.ts";
import { audit, links } from "../link.ts";
import { frozenSafety } from "../safety.ts";
import { maintenanceScheduleView } from "./action-view.ts";
import { namedSetAs } from "./named.ts";

/** The counts of a rollout or group by bucket (spec 001 §2.6), always all six. */
export const totalsView = z
  .object({
    running: z.int(),
    notstarted: z.int(),
    scheduled: z.int(),
    cancelled: z.int(),
    finished: z.int(),
    error: z.int(),
  })
  .meta({ id: "TotalTargetsPerStatus" });
export type TotalsView = z.output<typeof totalsView>;

/** Why background work fails (contract rollouts.md §9 no. 3); it is retried by itself, and the member disappears when it succeeds. */
export const lastErrorView = z
  .object({
    message: z.string(),
    /** The time of the newest attempt, in epoch ms. */
    at: z.int(),
    /** So many attempts in a row have failed. */
    attempts: z.int(),
  })
  .meta({ id: "LastError" });

/** Why a rollout changes its status; the regular course has no reason (contract rollouts.md §7.2). */
export const statusReasons = ["user", "schedule", "error_threshold", "success_pause", "invalidation", "quota"] as const;

/** Why a rollout has its present status, and who caused it (contract console.md §2). */
export const statusReasonView = z
  .object({
    reason: z.enum(statusReasons).optional(),
    /** Whoever asked for it; `system` stands for the server itself. */
    actor: z.string(),
    at: z.int(),
    /** The group whose threshold decided. */
    groupId: z.int().optional(),
    /** What was compared with `limit`: percent of the group, or groups of the rollout if the reason is a quota. */
    value: z.number().optional(),
    limit: z.number().optional(),
  })
  .meta({ id: "RolloutStatusReason" });
export type StatusReasonView = z.output<typeof statusReasonView>;

/** Of the running ones, those that count otherwise than their status says (contract beyond.md §1.4). */
export const safetyCountsView = z.object({ proving: z.int(), silent: z.int(), retrying: z.int() }).meta({ id: "SafetyCounts" });

/** A rollout (spec 001 §2.6); only the full form has the members after `weight` (contract rollouts.md §2.3). */
export const rolloutView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    description: z.string().optional(),
    targetFilterQuery: z.string(),
    distributionSetId: z.int(),
    status: z.enum(rolloutStatusNames),
    totalTargets: z.int(),
    deleted: z.boolean(),
    dynamic: z.boolean(),
    type: z.enum(forceTypeNames),
    forcetime: z.int(),
    weight: z.int(),
    totalTargetsPerStatus: totalsView.optional(),
    totalGroups: z.int().optional(),
    startAt: z.int().optional(),
    maintenanceWindow: maintenanceScheduleView.optional(),
    approveDecidedBy: z.string().optional(),
    approvalRemark: z.string().optional(),
    startedAt: z.int().optional(),
    finishedAt: z.int().optional(),
    statusReason: statusReasonView.optional(),
    distributionSet: namedSetAs("RolloutDistributionSet").optional(),
    /** It is present only with a policy. */
    safety: frozenSafety.optional(),
    safetyCounts: safetyCountsView.optional(),
    lastError: lastErrorView.optional(),
    _links: links("self", "start", "pause", "resume", "triggerNextGroup", "approve", "deny", "groups", "distributionset"),
  })
  .meta({ id: "Rollout" });
export type RolloutView = z.output<typeof rolloutView>;

const conditionView = z.object({ condition: z.literal("THRESHOLD"), expression: z.string() }).meta({ id: "RolloutCondition" });
const actionTaken = (id: string, ...actions: [string, ...string[]]) =>
  z.object({ action: z.enum(actions), expression: z.string() }).meta({ id });

/** A rollout group (spec 001 §2.6); only the full form has `totalTargetsPerStatus` and the members after it. */
export const rolloutGroupView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    description: z.string().optional(),
    status: z.enum(rolloutGroupStatusNames),
    targetPercentage: z.number(),
    targetFilterQuery: z.string(),
    totalTargets: z.int(),
    dynamic: z.boolean(),
    successCondition: conditionView,
    successAction: actionTaken("RolloutSuccessAction", "NEXTGROUP", "PAUSE"),
    errorCondition: conditionView,
    errorAction: actionTaken("RolloutErrorAction", "PAUSE"),
    confirmationRequired: z.boolean().optional(),
    totalTargetsPerStatus: totalsView.optional(),
    startedAt: z.int().optional(),
    finishedAt: z.int().optional(),
    successPercent: z.number().optional(),
    errorPercent: z.number().optional(),
    /** These two are present only with a policy. */
    safety: frozenSafety.optional(),
    safetyCounts: safetyCountsView.optional(),
    _links: links("self"),
  })
  .meta({ id: "RolloutGroup" });
export type RolloutGroupView = z.output<typeof rolloutGroupView>;
