import { isOver, type QuotaKey, type QuotaLimits, quotaLimits } from "@harrier/contracts";
import { type Queryable, run } from "@harrier/db";
import { type HarrierError, quotaExceeded } from "@harrier/errors";
import { readLimits } from "./limits.sql.ts";

/** Returns all limits of a tenant in one round trip, for callers that cannot have theirs in the statement that it bounds (`limitSql`). */
export async function limitsOf(db: Queryable, tenantId: number): Promise<QuotaLimits> {
  return quotaLimits(await run(db, readLimits, [tenantId]));
}

/** This names what an owner holds, and the owner, in hawkBit's terms (contract management.md §2.2). */
const owned = {
  ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT: ["Artifact", "SoftwareModule"],
  SOFTWARE_MODULES_PER_DISTRIBUTION_SET_MAX_COUNT: ["SoftwareModule", "DistributionSet"],
  SOFTWARE_MODULE_TYPES_PER_DISTRIBUTION_SET_TYPE_MAX_COUNT: ["SoftwareModuleType", "DistributionSetType"],
  DISTRIBUTION_SET_TYPES_PER_TARGET_TYPE_MAX_COUNT: ["DistributionSetType", "TargetType"],
  METADATA_PER_TARGET_MAX_COUNT: ["Metadata", "Target"],
  METADATA_PER_DISTRIBUTION_SET_MAX_COUNT: ["Metadata", "DistributionSet"],
  METADATA_PER_SOFTWARE_MODULE_MAX_COUNT: ["Metadata", "SoftwareModule"],
  TARGETS_PER_AUTO_ASSIGNMENT_MAX_COUNT: ["Target", "TargetFilterQuery"],
} as const satisfies Partial<Record<QuotaKey, readonly [what: string, owner: string]>>;

export type OwnedQuota = keyof typeof owned;

/**
 * Refuses to add more to an owner than it may hold. `held` is what it has already, counted under the owner's lock where two requests could
 * compete; adding nothing is always allowed, even where the limit was lowered below what the owner has.
 */
export function checkOwned(key: OwnedQuota, limit: number, owner: { id: number | string; held: number; added: number }): void {
  const { id, held, added } = owner;
  if (added > 0 && isOver(limit, held + added)) throw tooManyOwned(key, limit, { id, added });
}

/** Returns the error for a limit that the statement itself has found exceeded. */
export function tooManyOwned(key: OwnedQuota, limit: number, { id, added }: { id: number | string; added: number }): HarrierError {
  const [of, what] = owned[key];
  return quotaExceeded({ n: added, of, owner: `${what} '${id}'`, limit });
}
