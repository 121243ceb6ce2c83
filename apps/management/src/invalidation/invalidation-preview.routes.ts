import { actionStatusNames, setInvalidationPreviews } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Mount } from "@harrier/service";
import { previewInvalidation } from "./invalidation-preview.sql.ts";

/** Serves the preview of the invalidation of a distribution set (contract console.md §2). */
export function mountInvalidationPreview(mount: Mount, { db }: { db: Pick<Database, "pool"> }): void {
  /** Answers in one round trip. Throws entityNotFound. */
  mount(setInvalidationPreviews.invalidationPreview, async ({ identity, tenantId, params: { distributionSetId: id } }) => {
    const row = await runOne(db.pool, previewInvalidation, [tenantId, id, scopeOf(identity, "READ_TARGET", "READ_ROLLOUT")]);
    if (row === undefined) throw entityNotFound("DistributionSet", id);
    const counts = Object.entries(row.actions ?? {}).map(
      ([status, n]) => [(actionStatusNames[Number(status)] ?? status).toUpperCase(), n] as const,
    );
    const total = counts.reduce((sum, [, n]) => sum + n, 0);
    return { body: { rollouts: row.rollouts, autoAssignments: row.autoAssignments, actions: { ...Object.fromEntries(counts), total } } };
  });
}
