import { type AutoAssignment, forceType, upcomingMaintenanceWindow } from "@harrier/contracts";
import { inTransaction, type Queryable, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type IfMatch, requireRevision, scopeOf } from "@harrier/query";
import type { Client, OutCall, Principal } from "@harrier/rpc";
import { notifyFilter } from "../auto-assign/leases.sql.ts";
import { parseStoredFilter } from "../matching/matching.ts";
import { planSafety } from "../safety/plan-safety.ts";
import { checkSet } from "../sets/check-set.ts";
import { decideAutoAssign } from "./approval.sql.ts";
import { clearAutoAssign, lockAutoAssign, readSet, setAutoAssign } from "./auto-assign.sql.ts";
import { checkQuota } from "./check-quota.ts";
import { checkReach } from "./check-reach.ts";
import type { FilterRow } from "./filters.sql.ts";
import { changedSinceRead, type FilterDeps, getAutoAssigning, getFilter, mayApprove } from "./filters.ts";

export interface AutoAssignDeps extends FilterDeps {
  catalogue: Pick<Client<"harrier.management.v1.CatalogueService">, "reserveSet">;
}

/** The request of an auto-assignment. One without a filter may also have a start time (epoch ms) and a description. */
export type AutoAssigned = AutoAssignment &
  Partial<Record<"startAt", number | undefined>> &
  Partial<Record<"description", string | undefined>>;

/** An auto-assignment reaches the targets that its creator may both see and change (contract management.md §5.8). */
export const reach = ["READ_TARGET", "UPDATE_TARGET"];

/**
 * Lets a filter assign a set (spec 001 §4.5). The set is reserved, which locks it, only after every other check has passed. Without
 * `confirmationRequired` the tenant's confirmation flow decides. If the tenant requires approval, the auto-assignment waits for it, unless the
 * caller may approve.
 */
export async function assignByFilter(
  deps: AutoAssignDeps,
  id: number,
  { ifMatch, ...body }: AutoAssigned & { ifMatch?: IfMatch },
  call: OutCall,
): Promise<void> {
  const { principal } = call;
  const { tenantId, subject } = principal;
  if (body.type === "timeforced") throw new HarrierError("invalidAutoAssignActionType");
  const window = upcomingMaintenanceWindow(body.maintenanceWindow, deps.now()) ?? null;
  const filter = await getFilter(deps, tenantId, id);
  checkReach(principal, filter, reach);
  requireRevision(ifMatch, filter);
  const set = await checkSet(deps.db.pool, { tenantId, id: body.id }, await runOne(deps.db.pool, readSet, [tenantId, body.id]));
  const targetTypes = scopeOf(principal, ...reach);
  const ast = parseStoredFilter(filter.query);
  const selected = { tenantId, setId: set.id, setTypeId: set.typeId, targetTypes, filter: ast };
  const { selection, settings } = await checkQuota(deps, { filterId: id, ...selected });
  const asked = { given: body.safety, byDefault: settings.safetyDefault, forceType: body.type };
  const safety = await planSafety(deps.db.pool, { tenantId, setId: set.id, selection, ...asked });
  await deps.catalogue.reserveSet({ setId: set.id }, call);
  const { weight, confirmationRequired = consentBefore(filter), startAt = null, description = null } = body;
  const type = forceType[body.type];
  await underLock(deps, principal, { id, ifMatch }, async (tx) => {
    const what = [set.id, type, weight, window, confirmationRequired, targetTypes] as const;
    const who = [subject, mayApprove(principal)] as const;
    const values = [tenantId, id, filter.revision, ...what, ...who, startAt, description] as const;
    const changed = await runOne(tx, setAutoAssign, [...values, safety && JSON.stringify(safety), filter.setId !== null]);
    if (changed) await run(tx, notifyFilter, [tenantId, id]);
    return changed;
  });
  deps.wake();
}

/** What is asked of devices without a word about it: what the tenant asks; while it asks for nothing, what the auto-assignment has, which nobody sees then. */
const consentBefore = ({ consentFlow, setId, confirmationRequired }: FilterRow): boolean =>
  consentFlow || (setId !== null && confirmationRequired === true);

/** Ends the auto-assignment of a filter: no action of it is created after the answer, and existing ones stay. */
export async function endAutoAssign(
  deps: Pick<FilterDeps, "db">,
  id: number,
  principal: Principal,
  { ifMatch }: { ifMatch?: IfMatch } = {},
): Promise<void> {
  const { tenantId, subject } = principal;
  const filter = await getFilter(deps, tenantId, id);
  checkReach(principal, filter, reach);
  requireRevision(ifMatch, filter);
  await underLock(deps, principal, { id, ifMatch }, (tx) => runOne(tx, clearAutoAssign, [tenantId, id, filter.revision, subject]));
}

/** What was decided, and of which revision. */
export interface Decision {
  readonly approved: boolean;
  readonly remark: string | undefined;
  readonly ifMatch?: IfMatch;
}

/**
 * Approves or denies an auto-assignment that waits for approval. Nothing was assigned before the answer, and nothing will be after a denial.
 * Whoever holds the permission decides, also about their own auto-assignment (as with rollouts, contract rollouts.md §4.11).
 */
export async function decideAutoAssignment(
  deps: Pick<FilterDeps, "db" | "wake">,
  principal: Principal,
  id: number,
  { approved, remark, ifMatch }: Decision,
): Promise<void> {
  const { tenantId, subject } = principal;
  const filter = await getAutoAssigning(deps, tenantId, id);
  checkReach(principal, filter, [...reach, "APPROVE_ROLLOUT"]);
  requireRevision(ifMatch, filter);
  if (filter.setId === null || filter.status !== "waiting_for_approval") {
    throw new HarrierError("rolloutIllegalState", "The auto-assignment of this filter does not wait for approval.");
  }
  const status = approved ? "running" : "approval_denied";
  await underLock(deps, principal, { id, ifMatch }, async (tx) => {
    const changed = await runOne(tx, decideAutoAssign, [tenantId, id, filter.revision, status, subject, remark ?? null]);
    if (changed && approved) await run(tx, notifyFilter, [tenantId, id]);
    return changed;
  });
  deps.wake();
}

export async function underLock(
  { db }: Pick<FilterDeps, "db">,
  { tenantId }: Principal,
  { id, ifMatch }: { id: number; ifMatch?: IfMatch },
  change: (tx: Queryable) => Promise<object | undefined>,
): Promise<void> {
  const changed = await inTransaction(db.pool, async (tx) => {
    await run(tx, lockAutoAssign, [tenantId, id]);
    return change(tx);
  });
  if (!changed) throw changedSinceRead(ifMatch);
}
