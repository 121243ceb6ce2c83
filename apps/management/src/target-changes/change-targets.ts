import type { TargetChangeRequest } from "@harrier/contracts";
import { type Database, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { targetFields } from "@harrier/fiql";
import { narrow, type PageSource, type Scope, scopeOf, targetLists } from "@harrier/query";
import type { FaultPoint } from "@harrier/service";
import { checkAssignable } from "../catalogue/reserve-set.ts";
import type { OperationRow } from "../operations/background.sql.ts";
import { beginChunks, maxFailures } from "../operations/chunks.sql.ts";
import { targetList } from "../targets/targets.sql.ts";
import type { Actor } from "../targets/targets.ts";
import { findSetState, findSubjects, listedTargets, missingTargets } from "./target-changes.sql.ts";

export interface TargetChangeDeps {
  db: Pick<Database, "pool">;
  /** Starts the operation that was stored. */
  wakeTargetChanges: () => void;
  fault: (point: FaultPoint) => void | Promise<void>;
  now: () => number;
}

/** What the operation keeps of a request, beside the targets. */
export interface ChangePayload {
  scope: Scope;
  change: TargetChangeRequest["action"];
  value: number | null;
  /** How a set is assigned. */
  assignment?: Pick<TargetChangeRequest, "type" | "forcetime" | "weight" | "confirmationRequired">;
  failed?: number;
  failures?: { controllerId: string; reason: string }[];
}

/** Why a target was not changed: it is gone, or not one that the caller may see and change. */
export const notReached = "entityNotFound";

/**
 * Begins a change of many targets (contract console.md §4, M16): those that a query means, if their number is the one that the caller has given, or
 * those of a list. Exactly the counted targets are changed, by the operation that is returned.
 */
export async function beginTargetChange(deps: TargetChangeDeps, actor: Actor, request: TargetChangeRequest): Promise<OperationRow> {
  const { tenantId, subject: by } = actor.identity;
  const { pool } = deps.db;
  const { action, tagId = null, targetTypeId = null, distributionSetId = null } = request;
  const { type, forcetime, weight, confirmationRequired } = request;
  const found = await runOne(pool, findSubjects, [tenantId, tagId, targetTypeId]);
  if (found?.tag === false) throw entityNotFound("TargetTag", Number(tagId));
  if (found?.type === false) throw entityNotFound("TargetType", Number(targetTypeId));
  if (distributionSetId !== null) await checkSet(deps, tenantId, distributionSetId);
  const value = tagId ?? targetTypeId ?? distributionSetId;
  const scope = scopeOf(actor.identity, "UPDATE_TARGET", "READ_TARGET");
  const { source, about, missing } = await meant(deps, tenantId, scope, request);
  const payload: ChangePayload = { scope, change: action, value };
  if (action === "assignSet") payload.assignment = { type, forcetime, weight, confirmationRequired };
  if (missing.length > 0) {
    payload.failed = missing.length;
    payload.failures = missing.slice(0, maxFailures).map((controllerId) => ({ controllerId, reason: notReached }));
  }
  const confirm = request.confirm ?? null;
  const subject = `${[action, value ?? []].flat().join(" ")}: ${about}`;
  const begun = await runOne(pool, beginChunks(source, { kind: "change-targets", subject, payload, actor: by, confirm, directly: -1 }));
  if (begun === undefined || begun.id === null) throw countDiffers(Number(confirm), begun?.matched ?? 0);
  await deps.fault("management.change-targets.after-commit");
  deps.wakeTargetChanges();
  return begun;
}

/** Refuses a set that may not be assigned now; each part of the operation reserves it anew. */
async function checkSet({ db }: TargetChangeDeps, tenantId: number, id: number): Promise<void> {
  const set = await runOne(db.pool, findSetState, [tenantId, id]);
  if (set === undefined) throw entityNotFound("DistributionSet", id);
  checkAssignable(set);
}

async function meant(
  deps: TargetChangeDeps,
  tenantId: number,
  scope: Scope,
  { q, controllerIds }: TargetChangeRequest,
): Promise<{ source: PageSource; about: string; missing: string[] }> {
  if (controllerIds === undefined) {
    const all = { source: targetList(tenantId, scope), fields: targetFields };
    return { source: await narrow(targetLists(deps, tenantId), all, q), about: q ?? "", missing: [] };
  }
  const ids = [...new Set(controllerIds)];
  const missing = await run(deps.db.pool, missingTargets, [tenantId, scope, ids]);
  return {
    source: listedTargets(tenantId, scope, ids),
    about: `${ids.length} targets`,
    missing: missing.map(({ controllerId }) => controllerId),
  };
}

function countDiffers(confirmed: number, count: number): HarrierError {
  return new HarrierError("concurrentModification", `The query means ${count} targets, not ${confirmed}: none was changed.`, {
    info: { count },
  });
}
