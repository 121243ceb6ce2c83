import type { VersionInsights, VersionsQuery } from "@harrier/contracts";
import { runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { fleetKind } from "./insights.sql.ts";
import type { InsightDeps } from "./insights.ts";
import { readVersionDays, type VersionsRow } from "./versions.sql.ts";

/** So many days are kept, and answered at most. */
const maxDays = 400;
/** So many days are answered unless the caller names a beginning. */
const defaultDays = 30;
const dayMs = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Both ends are included; throws constraintViolation. */
function daysOf({ startDay, endDay }: Pick<VersionsQuery, "startDay" | "endDay">, now: number): { first: string; last: string } {
  const last = endDay ?? dayOf(now);
  const first = startDay ?? dayOf(Date.parse(last) - (defaultDays - 1) * dayMs);
  if (first > last) throw new HarrierError("constraintViolation", "startDay must not be after endDay.");
  if (Date.parse(last) - Date.parse(first) >= maxDays * dayMs) {
    throw new HarrierError("constraintViolation", `At most ${maxDays} days are answered at once.`);
  }
  return { first, last };
}

/**
 * Reads how many targets had which set at the end of each day (contract console.md §1, M19); a user restricted to target types gets the targets of these.
 * Throws constraintViolation for days that are none or too many.
 */
export async function readVersions(
  deps: InsightDeps,
  viewer: Pick<Identity, "tenantId" | "targetTypeScopes">,
  query: VersionsQuery,
): Promise<VersionInsights> {
  const { by, step, top } = query;
  const { first, last } = daysOf(query, deps.now());
  const kind = by === "installedds" ? fleetKind.installedSet : fleetKind.assignedSet;
  const row = await runOne(deps.db.pool, readVersionDays, [viewer.tenantId, kind, first, last, scopeOf(viewer, "READ_TARGET"), top]);
  return { by, step, content: (row?.days ?? []).map(shown), sets: row?.sets ?? [] };
}

function shown({ day, countedAt, total, counts }: VersionsRow["days"][number]): VersionInsights["content"][number] {
  if (countedAt === null) return { day, coverage: "none" };
  const known = Object.entries(counts ?? {}).map(([id, n]) => ({ id: Number(id), count: n }));
  const all = total ?? 0;
  const other = all - known.reduce((sum, one) => sum + one.count, 0);
  return { day, coverage: "full", countedAt, total: all, counts: known.sort((a, b) => b.count - a.count || b.id - a.id), other };
}
