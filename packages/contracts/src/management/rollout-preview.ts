import { z } from "zod";

const count = z.int().min(0);

/**
 * The preview of the rollout that would be created now (extensions.md, rollout preview): `candidates` is the sum of `matched` and all that is
 * `excluded`, with each target counted once.
 */
export const rolloutPreview = z
  .object({
    candidates: count.meta({ description: "Targets that the filter finds among those that the caller sees" }),
    matched: count.meta({
      description: "Targets of all groups together; of a purely dynamic rollout those that will join it as soon as it runs",
    }),
    excluded: z
      .object({
        outsideScope: count.meta({ description: "Of a type that the caller sees and may make no rollout for" }),
        incompatibleType: count.meta({ description: "Of a type that the distribution set is not for" }),
        noGroup: count.meta({ description: "Left over by the groups" }),
      })
      .meta({ id: "RolloutPreviewExcluded" }),
    groups: z.array(
      z
        .object({ name: z.string(), targetPercentage: z.number(), dynamic: z.boolean(), totalTargets: count })
        .meta({ id: "RolloutPreviewGroup", description: "A group as it would be when the rollout is ready" }),
    ),
  })
  .meta({ id: "RolloutPreview" });
export type RolloutPreview = z.output<typeof rolloutPreview>;
