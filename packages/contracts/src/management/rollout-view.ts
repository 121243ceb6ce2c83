import { z } from "zod";
import { forceTypeNames, rolloutGroupStatusNames, rolloutStatusNames } from "../codes.ts";
import { audit, links } from "../link.ts";
import { maintenanceScheduleView } from "./action-view.ts";

/** Counts of a rollout or group by bucket (spec 001 §2.6); always all six. */
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

/** Why background work does not get on (contract rollouts.md §9 no. 3); it is tried again by itself, and the member goes when it succeeds. */
export const lastErrorView = z
  .object({
    message: z.string(),
    /** Of the newest attempt, epoch ms. */
    at: z.int(),
    /** Failures in a row. */
    attempts: z.int(),
  })
  .meta({ id: "LastError" });

/** Rollout (spec 001 §2.6); the members after `weight` come in the full form only (contract rollouts.md §2.3). */
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
    lastError: lastErrorView.optional(),
    _links: links("self", "start", "pause", "resume", "triggerNextGroup", "approve", "deny", "groups", "distributionset"),
  })
  .meta({ id: "Rollout" });
export type RolloutView = z.output<typeof rolloutView>;

const conditionView = z.object({ condition: z.literal("THRESHOLD"), expression: z.string() }).meta({ id: "RolloutCondition" });
const actionTaken = (id: string, ...actions: [string, ...string[]]) =>
  z.object({ action: z.enum(actions), expression: z.string() }).meta({ id });

/** Rollout group (spec 001 §2.6); `totalTargetsPerStatus` in the full form only. */
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
    _links: links("self"),
  })
  .meta({ id: "RolloutGroup" });
export type RolloutGroupView = z.output<typeof rolloutGroupView>;
