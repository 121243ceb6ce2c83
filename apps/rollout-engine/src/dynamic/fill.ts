import { type Database, runOne } from "@harrier/db";
import { cooldownAfter } from "../domain/cooldown.ts";
import { parseStoredFilter } from "../matching/matching.ts";
import { macrosOf } from "../settings/settings.ts";
import { findJoining, joinGroup, loadFillWork } from "./fill.sql.ts";
import type { FillClaim } from "./leases.sql.ts";

export interface FillDeps {
  db: Database;
  /** Wakes the engine of this process, which creates the actions of those who joined. */
  wake: () => void;
  now: () => number;
}

/** Says when a dynamic rollout is due next. */
export interface Cooldown {
  cooldownMs: number;
  /** Notifications are collected for so long before they count. */
  debounceMs: number;
  /** So many scans in a row have found no target. */
  idle: number;
}

/** At most so many targets join in one round, because the statement that adds them locks them. */
const atMost = 5_000;
/** While the engine creates actions or adds a group, the next round comes after this time. */
const soonMs = 250;
const soon: Cooldown = { cooldownMs: soonMs, debounceMs: soonMs, idle: 0 };

/**
 * Adds the targets that match a dynamic rollout now to its last group (contract rollouts.md §4.6, fill). It creates members only, and the engine
 * creates their actions. A crash in between leaves either nothing or members whose actions follow.
 */
export async function fillRollout(deps: FillDeps, { tenantId, rolloutId, idle }: FillClaim): Promise<Cooldown> {
  const began = deps.now();
  const cooldown = (found: boolean): Cooldown => {
    const nobody = found ? 0 : idle + 1;
    return { ...cooldownAfter(deps.now() - began, nobody), idle: nobody };
  };
  const work = await runOne(deps.db.pool, loadFillWork, [tenantId, rolloutId]);
  // it is not claimed again before the rollout runs and its tenant is active (leases.sql.ts)
  if (!work?.tenantActive) return soon;
  if (work.behind) return { ...soon, idle };
  // the engine adds a group and notifies the filler, unless the maximum of groups is reached
  if (work.room === 0) return cooldown(false);
  const { groupId, lastOrdinal, setTypeId, targetTypes } = work;
  const macros = await macrosOf(deps.db.pool, tenantId, work.filter, began);
  const selection = { tenantId, setTypeId, targetTypes, filter: parseStoredFilter(work.filter), now: began, macros };
  const found = await runOne(deps.db.pool, findJoining(selection, rolloutId, Math.min(work.room, atMost)));
  if (!found || found.ids.length === 0) return cooldown(false);
  const row = await runOne(deps.db.pool, joinGroup, [tenantId, rolloutId, groupId, lastOrdinal, found.ids]);
  if (row && row.joined > 0) deps.wake();
  return soon;
}
