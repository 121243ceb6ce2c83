import { forceTypeNames } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Client, OutCall, ReserveSetResponse } from "@harrier/rpc";
import { cooldownAfter } from "../domain/cooldown.ts";
import { parseStoredFilter } from "../matching/matching.ts";
import { resolveSafety } from "../safety/resolve.ts";
import { macrosOf } from "../settings/settings.ts";
import { type FilterWork, loadFilterWork, recordCandidates } from "./candidates.sql.ts";
import type { FilterClaim } from "./leases.sql.ts";

export interface RunDeps {
  db: Database;
  catalogue: Pick<Client<"harrier.management.v1.CatalogueService">, "reserveSet">;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "autoAssignChunk">;
  fault: (name: "rollout-engine.auto-assign.after-candidates" | "rollout-engine.auto-assign.after-chunk") => unknown;
  now: () => number;
}

/** The result of a round of a filter: where the pass continues, and when. */
export interface Round {
  /** It is -1 when the pass is done, so that the next one begins anew. */
  progress: number;
  /** It is null when there is nothing to do until the filter is changed. */
  cooldownMs: number | null;
  /** Notifications are collected for so long before they count. */
  debounceMs: number;
  /** So many passes in a row have found no target. */
  idle: number;
}

/** One statement of a pass finds at most so many targets. */
const atMost = 20_000;
const callMs = 10_000;
const maxCooldownMs = 86_400_000;
/** The claim is released after so long, so that other filters are served. */
const workMs = 2_000;

/**
 * Assigns the set of a filter to the targets that match it now and have never had an action of it (contract management.md §5.8). A chunk may be
 * repeated by any engine without harm, because controller checks every target again under its lock.
 */
export async function runFilter(deps: RunDeps, claim: FilterClaim, signal: AbortSignal): Promise<Round> {
  const { tenantId, filterId, pass } = claim;
  const began = deps.now();
  const work = await runOne(deps.db.pool, loadFilterWork, [tenantId, filterId]);
  if (!work) return { progress: -1, cooldownMs: null, debounceMs: 0, idle: 0 };
  // it is due at its start time, or after a day if that is further ahead than a timer allows
  if (work.startsInMs !== null) {
    const cooldownMs = Math.min(work.startsInMs, maxCooldownMs);
    return { progress: -1, cooldownMs, debounceMs: cooldownMs, idle: 0 };
  }
  // it stays due, but is not claimed again before the tenant is resumed (leases.sql.ts)
  if (!work.tenantActive) return { progress: claim.progress, cooldownMs: 0, debounceMs: 0, idle: 0 };
  const macros = await macrosOf(deps.db.pool, tenantId, work.query, began);
  const { setId, setTypeId, targetTypes } = work;
  const selection = { tenantId, setTypeId, targetTypes, filter: parseStoredFilter(work.query), now: began, macros };
  let nobody = true;
  for (let cursor = claim.progress; ; ) {
    const found = await runOne(deps.db.pool, recordCandidates(selection, setId, { filterId, pass, cursor, limit: atMost }));
    if (!found) throw new Error("candidates without a row");
    await deps.fault("rollout-engine.auto-assign.after-candidates");
    if (found.n > 0) await assignFound(deps, claim, work, cursor);
    nobody &&= found.n === 0;
    const idle = nobody ? claim.idle + 1 : 0;
    if (found.n < atMost) return { progress: -1, ...cooldownAfter(deps.now() - began, idle), idle };
    cursor = found.last;
    if (signal.aborted || deps.now() - began > workMs) return { progress: cursor, cooldownMs: 0, debounceMs: 0, idle };
  }
}

/** Assigns chunk by chunk. It stops when the auto-assignment was changed or ended meanwhile; the notification of that change begins the next pass. */
async function assignFound(deps: RunDeps, claim: FilterClaim, work: FilterWork, from: number): Promise<void> {
  // the set is checked at every execution, because it may have been unlocked, changed or invalidated since (contract management.md §5.2)
  const set = await deps.catalogue.reserveSet({ setId: work.setId }, outCall(deps, claim, work));
  try {
    await assignAll(deps, claim, work, { set, from });
  } catch (error) {
    if (!(error instanceof HarrierError && error.code === "fenced")) throw error;
  }
}

async function assignAll(
  deps: RunDeps,
  claim: FilterClaim,
  work: FilterWork,
  { set, from }: { set: ReserveSetResponse; from: number },
): Promise<void> {
  const safety = await resolveSafety(deps.db.pool, { tenantId: claim.tenantId, setId: set.id, frozen: work.safety });
  let [cursor, done] = [from, false];
  while (!done) {
    const request = {
      filterId: claim.filterId,
      epoch: work.epoch,
      pass: claim.pass,
      cursor,
      set: { id: set.id, name: set.name, version: set.version, typeId: set.typeId, migrationStep: set.migrationStep },
      forceType: forceTypeNames[work.forceType] ?? "forced",
      weight: work.weight,
      maintenanceWindow: work.maintenanceWindow,
      confirmationRequired: work.confirmationRequired,
      initiator: work.initiator,
      filterName: work.name,
      ...safety,
    };
    ({ cursor, done } = await deps.actions.autoAssignChunk(request, outCall(deps, claim, work)));
    await deps.fault("rollout-engine.auto-assign.after-chunk");
  }
}

/** Calls as the engine's own principal, because the user who set the auto-assignment was checked at that time; that user is sent as the initiator. */
function outCall(deps: RunDeps, { tenantId, filterId }: FilterClaim, { tenant }: FilterWork): OutCall {
  const principal = { tenantId, tenant, kind: "service", subject: "rollout-engine", permissions: [] } as const;
  return { principal, rid: `filter-${filterId}`, deadline: deps.now() + callMs };
}
