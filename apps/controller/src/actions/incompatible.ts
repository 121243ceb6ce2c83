import { type Queryable, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { findIncompatible } from "./incompatible.sql.ts";

/** Targets that an answer names; more may be incompatible. */
const mostNamed = 20;
const message = "A target has a type that is not compatible with the distribution set's type.";

/**
 * The refusal of an assignment because of a target's type (contract management.md §5.3, check 7). `info.targets` names the targets and their types;
 * read when the assignment has been refused, so that it costs nothing else.
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
  const targets = await run(db, findIncompatible, [tenantId, setType, controllerIds, scope, mostNamed]);
  return new HarrierError("targetTypeIncompatible", message, { info: targets.length === 0 ? {} : { targets } });
}

/** The same where several sets were asked for at once: of the first of them that does not fit. A round trip for each until then, in this case alone. */
export async function incompatibleSets(
  db: Queryable,
  where: { tenantId: number; scope: number[] | null },
  asked: readonly { setType: number; controllerIds: readonly string[] }[],
): Promise<HarrierError> {
  let error = new HarrierError("targetTypeIncompatible", message, { info: {} });
  for (const one of asked) {
    error = await incompatibleTargets(db, { ...where, ...one });
    if (error.info?.["targets"] !== undefined) break;
  }
  return error;
}
