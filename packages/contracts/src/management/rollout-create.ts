import { z } from "zod";
import { forceTypeNames } from "../codes.ts";
import { safetyBody } from "../safety.ts";
import {
  arrayOf,
  bodyId,
  epochMs,
  flag,
  int32,
  lastMoment,
  optionalDescription,
  optionalName,
  optionalText,
  requiredName,
  weight,
  withoutNulls,
} from "../values.ts";
import { maintenanceWindowBody } from "./assignment.ts";

/** Only whole percentages are accepted; any other text would silently never trigger (contract rollouts.md §4.5). */
const threshold = z
  .string()
  .trim()
  .max(512)
  .refine((text) => /^\d{1,9}$/.test(text), "must be a whole number")
  .default("100");

const condition = z.object({ condition: z.literal("THRESHOLD").default("THRESHOLD"), expression: threshold });
const free = optionalText(512).prefault("");
const successAction = z.object({ action: z.enum(["NEXTGROUP", "PAUSE"]).default("NEXTGROUP"), expression: free });
const errorAction = z.object({ action: z.literal("PAUSE").default("PAUSE"), expression: free });

const conditions = {
  successCondition: condition.optional(),
  successAction: successAction.optional(),
  errorCondition: condition.optional(),
  errorAction: errorAction.optional(),
  confirmationRequired: flag().optional(),
};

/** A group as a rollout's creator defines it (contract rollouts.md §2.2); absent members come from the rollout. */
export const rolloutGroupCreate = z
  .object({
    name: requiredName(128),
    description: optionalDescription(),
    targetFilterQuery: optionalDescription(1024),
    targetPercentage: z.number().min(1).max(100).default(100),
    ...conditions,
  })
  .meta({ id: "RolloutGroupCreate" });

/**
 * The template of all dynamic groups, the first and those behind it (contract rollouts.md §4.6). With its number the name has at most 128
 * characters.
 */
const dynamicGroupTemplate = z.object({ nameSuffix: optionalDescription(112).prefault(""), targetCount: bodyId.prefault(0) });

/**
 * The creation of a rollout (spec 001 §2.6, contract rollouts.md §2.1). The owner checks what depends on more than one member, because its order of
 * checks is part of the contract (§2.4).
 */
export const rolloutCreate = z
  .object({
    name: requiredName(128),
    description: optionalDescription(),
    targetFilterQuery: optionalName(1024),
    distributionSetId: bodyId.prefault(0),
    type: z.enum(forceTypeNames).default("forced"),
    forcetime: epochMs.prefault(0),
    // the largest int64 means "not scheduled", as null does (contract rollouts.md §2.1)
    startAt: epochMs.transform((at) => (at >= lastMoment ? undefined : at)).optional(),
    weight: weight.prefault(1000),
    maintenanceWindow: maintenanceWindowBody.optional(),
    amountGroups: int32.optional(),
    groups: arrayOf(rolloutGroupCreate).optional(),
    dynamic: flag().prefault(false),
    dynamicGroupTemplate: dynamicGroupTemplate.optional(),
    safety: safetyBody.optional(),
    ...conditions,
  })
  .meta({ id: "RolloutCreate" });
export type RolloutCreate = z.output<typeof rolloutCreate>;
export type RolloutGroupCreate = z.output<typeof rolloutGroupCreate>;

/** The change of a rollout; absent or null members stay as they are. */
export const rolloutUpdate = z.object({ name: optionalName(128), description: optionalDescription() }).meta({ id: "RolloutUpdate" });
export type RolloutUpdate = z.output<typeof rolloutUpdate>;

export const rolloutCreateBody = withoutNulls(rolloutCreate);
export const rolloutUpdateBody = withoutNulls(rolloutUpdate);

/** The remark on a decision about a rollout; the body may be missing, and an empty text counts as none (contract rollouts.md §2). */
export const rolloutDecisionBody = withoutNulls(
  z
    .object({ remark: optionalText(255) })
    .meta({ id: "RolloutDecision" })
    .optional(),
);
