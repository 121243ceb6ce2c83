import { type Database, runOne } from "@harrier/db";
import { restAfter } from "../domain/rest.ts";
import { parseStoredFilter } from "../matching/matching.ts";
import { macrosOf } from "../settings/settings.ts";
import { findJoining, joinGroup, loadFillWork } from "./fill.sql.ts";
import type { FillClaim } from "./leases.sql.ts";

export interface FillDeps {
  db: Database;
  /** Wakes the engine of this process: it gives those who joined their actions. */
  nudge: () => void;
  now: () => number;
}

/** When a dynamic rollout is looked at next. */
export interface Rest {
  restMs: number;
  /** How long rings are not heard. */
  deafMs: number;
  /** Looks in a row that found nobody. */
  idle: number;
}

/** Targets that one look lets join at most: they are found by one statement, and locked for the moment of another. */
const atMost = 5_000;
/** While the engine creates actions or adds a group, a look comes back soon. */
const soonMs = 250;
const soon: Rest = { restMs: soonMs, deafMs: soonMs, idle: 0 };

/**
 * Lets the targets that a dynamic rollout is for by now join its last group (contract rollouts.md §4.6, fill). It makes members, nothing
 * else: actions are the engine's matter, so that whoever dies here leaves either nothing or members whose actions follow.
 */
export async function fillRollout(deps: FillDeps, { tenantId, rolloutId, idle }: FillClaim): Promise<Rest> {
  const began = deps.now();
  const rest = (found: boolean): Rest => {
    const nobody = found ? 0 : idle + 1;
    return { ...restAfter(deps.now() - began, nobody), idle: nobody };
  };
  const work = await runOne(deps.db.pool, loadFillWork, [tenantId, rolloutId]);
  // not taken again before it runs, or the tenant is back (leases.sql.ts)
  if (!work?.tenantActive) return soon;
  if (work.behind) return { ...soon, idle };
  // the engine adds a group and rings, unless there may be no more
  if (work.room === 0) return rest(false);
  const { groupId, lastOrdinal, setTypeId, targetTypes } = work;
  const macros = await macrosOf(deps.db.pool, tenantId, work.filter, began);
  const selection = { tenantId, setTypeId, targetTypes, filter: parseStoredFilter(work.filter), now: began, macros };
  const found = await runOne(deps.db.pool, findJoining(selection, rolloutId, Math.min(work.room, atMost)));
  if (!found || found.ids.length === 0) return rest(false);
  const row = await runOne(deps.db.pool, joinGroup, [tenantId, rolloutId, groupId, lastOrdinal, found.ids]);
  if (row && row.joined > 0) deps.nudge();
  return soon;
}
