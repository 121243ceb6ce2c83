import { type Queryable, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { findIncompatible } from "./incompatible.sql.ts";

/** An answer names at most this many targets; more may be incompatible. */
const maxNamed = 20;
const message = "A target has a type that is not compatible with the distribution set's type.";

/**
 * Makes the error of an assignment because of a target's type (contract management.md §5.3, check 7). `info.targets` names the targets and their
 * types; they are read only when the assignment has been rejected, so that others pay nothing for it.
 */
export async function incompatibleTargets(
  db: Queryable,
  {
    tenantId,
    setType,
    controllerIds,
    scope,
  }: { tenantId: number; setType: number; controllerIds: readonly string[]; scope: number[] | null },
): Promise<HarrierError> {
  const targets = await run(db, findIncompatible, [tenantId, setType, controllerIds, scope, maxNamed]);
  return new HarrierError("targetTypeIncompatible", message, { info: targets.length === 0 ? {} : { targets } });
}

/** Does the same for several sets, for the first of them that does not fit. Only in this case it makes a round trip for each set until then. */
export async function incompatibleSets(
  db: Queryable,
  where: { tenantId: number; scope: number[] | null },
  requested: readonly { setType: number; controllerIds: readonly string[] }[],
): Promise<HarrierError> {
  let error = new HarrierError("targetTypeIncompatible", message, { info: {} });
  for (const one of requested) {
    error = await incompatibleTargets(db, { ...where, ...one });
    if (error.info?.["targets"] !== undefined) break;
  }
  return error;
}
