import { z } from "zod";
import { rolloutStatusNames } from "../codes.ts";
import { ok, routesOf } from "../route.ts";
import { pathId } from "../values.ts";

const total = z.int().min(0);
const named = { id: z.int(), name: z.string() };

/** What the invalidation of a set would concern (contract console.md §2). Lists hold the newest 50 at most, totals count all. */
export const invalidationPreview = z
  .object({
    rollouts: z
      .object({
        total,
        size: total,
        content: z.array(z.object({ ...named, status: z.enum(rolloutStatusNames) }).meta({ id: "InvalidationPreviewRollout" })),
      })
      .meta({ id: "InvalidationPreviewRollouts" }),
    autoAssignments: z
      .object({ total, size: total, content: z.array(z.object(named).meta({ id: "InvalidationPreviewFilter" })) })
      .meta({ id: "InvalidationPreviewFilters" }),
    actions: z
      .record(z.string(), z.int())
      .meta({ description: "Upper-case status of open and scheduled actions to their number, and `total`" }),
  })
  .meta({ id: "InvalidationPreview" });
export type InvalidationPreview = z.output<typeof invalidationPreview>;

/** The preview of an invalidation (contract console.md §2). */
export const setInvalidationPreviews = routesOf(
  "distributionSets",
  { service: "management", interface: "management", source: "contract console.md §2" },
  {
    invalidationPreview: {
      method: "GET",
      path: "/distributionsets/:distributionSetId/invalidate/preview",
      params: z.object({ distributionSetId: pathId }),
      success: ok,
      response: invalidationPreview,
      // it names rollouts and target filters, and counts actions
      permission: ["READ_REPOSITORY", "READ_ROLLOUT", "READ_TARGET"],
      errors: ["entityNotFound"],
      summary: "Tell which rollouts, auto-assignments and open actions the invalidation of a distribution set would concern",
    },
  },
);
