import { forceTypeNames } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Client, OutCall, ReserveSetResponse } from "@harrier/rpc";
import { restAfter } from "../domain/rest.ts";
import { parseStoredFilter } from "../matching/matching.ts";
import { macrosOf } from "../settings/settings.ts";
import { type FilterWork, loadFilterWork, noteCandidates } from "./candidates.sql.ts";
import type { FilterClaim } from "./leases.sql.ts";

export interface RunDeps {
  db: Database;
  catalogue: Pick<Client<"harrier.management.v1.CatalogueService">, "reserveSet">;
  actions: Pick<Client<"harrier.controller.v1.ActionsService">, "autoAssignChunk">;
  fault: (name: "rollout-engine.auto-assign.after-candidates" | "rollout-engine.auto-assign.after-chunk") => unknown;
  now: () => number;
}

/** How a turn of a filter ended: where the pass goes on, and when. */
export interface Turn {
  /** -1: the pass is done, the next one begins anew. */
  progress: number;
  /** Null: nothing to do until the filter is changed. */
  restMs: number | null;
  /** How long rings are not heard. */
  deafMs: number;
  /** Passes in a row that found nobody. */
  idle: number;
}

/** Targets that one statement of a pass finds at most. */
const atMost = 20_000;
const callMs = 10_000;
const longestRestMs = 86_400_000;
/** After so long others have their turn. */
const workMs = 2_000;

/**
 * Gives the set of a filter to the targets that match it now and never had it (contract management.md §5.8). Each part may be repeated, by
 * this engine or another, without harm: controller looks at every target once more, under its lock.
 */
export async function runFilter(deps: RunDeps, claim: FilterClaim, signal: AbortSignal): Promise<Turn> {
  const { tenantId, filterId, pass } = claim;
  const began = deps.now();
  const work = await runOne(deps.db.pool, loadFilterWork, [tenantId, filterId]);
  if (!work) return { progress: -1, restMs: null, deafMs: 0, idle: 0 };
  // looked at again when it begins, or a day later: the time may lie further ahead than a timer goes
  if (work.startsInMs !== null) {
    const restMs = Math.min(work.startsInMs, longestRestMs);
    return { progress: -1, restMs, deafMs: restMs, idle: 0 };
  }
  // due at once, but not taken again before the tenant is back (leases.sql.ts)
  if (!work.tenantActive) return { progress: claim.progress, restMs: 0, deafMs: 0, idle: 0 };
  const macros = await macrosOf(deps.db.pool, tenantId, work.query, began);
  const { setId, setTypeId, targetTypes } = work;
  const selection = { tenantId, setTypeId, targetTypes, filter: parseStoredFilter(work.query), now: began, macros };
  let nobody = true;
  for (let cursor = claim.progress; ; ) {
    const found = await runOne(deps.db.pool, noteCandidates(selection, setId, { filterId, pass, cursor, limit: atMost }));
    if (!found) throw new Error("candidates without a row");
    await deps.fault("rollout-engine.auto-assign.after-candidates");
    if (found.n > 0) await assignFound(deps, claim, work, cursor);
    nobody &&= found.n === 0;
    const idle = nobody ? claim.idle + 1 : 0;
    if (found.n < atMost) return { progress: -1, ...restAfter(deps.now() - began, idle), idle };
    cursor = found.last;
    if (signal.aborted || deps.now() - began > workMs) return { progress: cursor, restMs: 0, deafMs: 0, idle };
  }
}

/** Chunk after chunk; an assignment that was changed or ended meanwhile is left as it is, its own ring begins the next pass. */
async function assignFound(deps: RunDeps, claim: FilterClaim, work: FilterWork, from: number): Promise<void> {
  // at every execution: the set may have been unlocked, changed or invalidated since (contract management.md §5.2)
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
    };
    ({ cursor, done } = await deps.actions.autoAssignChunk(request, outCall(deps, claim, work)));
    await deps.fault("rollout-engine.auto-assign.after-chunk");
  }
}

/** As the engine's own principal: who set the assignment was checked then, and is told as the initiator. */
function outCall(deps: RunDeps, { tenantId, filterId }: FilterClaim, { tenant }: FilterWork): OutCall {
  const principal = { tenantId, tenant, kind: "service", subject: "rollout-engine", permissions: [] } as const;
  return { principal, rid: `filter-${filterId}`, deadline: deps.now() + callMs };
}
