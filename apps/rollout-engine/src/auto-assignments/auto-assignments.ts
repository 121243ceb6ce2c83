import { type AutoAssignmentCreate, type AutoAssignmentUpdate, forceType } from "@harrier/contracts";
import { inTransaction, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, type ListQuery, type Page, readPage, requireRevision, scopeOf, withConflicts } from "@harrier/query";
import type { OutCall, Principal } from "@harrier/rpc";
import { dropCandidates, notifyFilter } from "../auto-assign/leases.sql.ts";
import type { AutoAssignStatus } from "../filters/approval.sql.ts";
import { readSet } from "../filters/auto-assign.sql.ts";
import {
  type AutoAssignDeps,
  assignByFilter,
  type Decision,
  decideAutoAssignment,
  endAutoAssign,
  reach,
  underLock,
} from "../filters/auto-assign.ts";
import { checkQuota } from "../filters/check-quota.ts";
import { checkReach } from "../filters/check-reach.ts";
import { deleteFilter } from "../filters/filters.sql.ts";
import { changedSinceRead, type FilterDeps, mayApprove } from "../filters/filters.ts";
import { parseTargetFilter } from "../matching/matching.ts";
import { planSafety } from "../safety/plan-safety.ts";
import { checkSet } from "../sets/check-set.ts";
import {
  type AutoAssignmentRow,
  autoAssignmentList,
  autoAssignmentsOfSet,
  dropGone,
  findAutoAssignment,
  findByName,
  insertAutoAssignment,
  moveAutoAssignment,
  updateAutoAssignment,
} from "./auto-assignments.sql.ts";

/** Answers one auto-assignment, in one round trip. */
export async function getAutoAssignment({ db }: Pick<FilterDeps, "db">, tenantId: number, id: number): Promise<AutoAssignmentRow> {
  const row = await runOne(db.pool, findAutoAssignment, [tenantId, id]);
  if (!row) throw entityNotFound("AutoAssignment", id);
  return row;
}

/** Answers a page of auto-assignments, only those of one set if it is given, in one round trip. An empty `q` counts as none. */
export async function listAutoAssignments(
  deps: Pick<FilterDeps, "db" | "now">,
  tenantId: number,
  { setId, ...query }: ListQuery & { setId?: number },
): Promise<Page<AutoAssignmentRow>> {
  const requested = { ...query, q: query.q === "" ? undefined : query.q };
  const kind = setId === undefined ? autoAssignmentList(tenantId) : autoAssignmentsOfSet(tenantId, setId);
  const found = await readPage<AutoAssignmentRow>({ db: deps.db.pool, now: deps.now }, kind, requested);
  if (!found.known) throw entityNotFound("DistributionSet", setId);
  return found;
}

/**
 * Creates an auto-assignment and answers its id. If a filter has its name and query and assigns nothing, that filter gets the auto-assignment, as
 * if it had been set there. Any other name in use is refused.
 */
export async function createAutoAssignment(deps: AutoAssignDeps, body: AutoAssignmentCreate, call: OutCall): Promise<number> {
  const { principal } = call;
  const { tenantId } = principal;
  const { name, targetFilterQuery: query, distributionSetId, actionType: type, weight, confirmationRequired } = body;
  const filter = parseTargetFilter(query);
  if (type === "timeforced") throw new HarrierError("invalidAutoAssignActionType");
  const named = await runOne(deps.db.pool, findByName, [tenantId, name]);
  const gone = named?.setId === null && named.standalone ? named.id : undefined;
  if (named !== undefined && gone === undefined) {
    if (named.setId !== null || named.query !== query) throw new HarrierError("entityAlreadyExists");
    const { startAt, description } = body;
    const assigned = { id: distributionSetId, type, weight, confirmationRequired, startAt, description, safety: body.safety };
    await assignByFilter(deps, named.id, assigned, call);
    return named.id;
  }
  const found = await runOne(deps.db.pool, readSet, [tenantId, distributionSetId]);
  const set = await checkSet(deps.db.pool, { tenantId, id: distributionSetId }, found);
  const targetTypes = scopeOf(principal, ...reach);
  const id = await deps.ids.next(tenantId, "filter");
  const selected = { tenantId, setId: set.id, setTypeId: set.typeId, targetTypes, filter };
  const { selection, settings } = await checkQuota(deps, { filterId: id, ...selected });
  const asked = { given: body.safety, byDefault: settings.safetyDefault, forceType: type };
  const safety = await planSafety(deps.db.pool, { tenantId, setId: set.id, selection, ...asked });
  await deps.catalogue.reserveSet({ setId: set.id }, call);
  const requested = confirmationRequired ?? settings.consentFlow;
  const what = [set.id, forceType[type], weight, requested, targetTypes] as const;
  await withConflicts(() =>
    inTransaction(deps.db.pool, async (tx) => {
      if (gone !== undefined) await run(tx, dropGone, [tenantId, gone]);
      const { description = null, startAt = null } = body;
      await run(tx, insertAutoAssignment, [
        tenantId,
        id,
        name,
        query,
        description,
        ...what,
        principal.subject,
        mayApprove(principal),
        startAt,
        safety && JSON.stringify(safety),
      ]);
      await run(tx, notifyFilter, [tenantId, id]);
    }),
  );
  deps.wake();
  return id;
}

/** Changes name or description. The name is that of the filter, if it belongs to one. */
export async function changeAutoAssignment(
  deps: Pick<FilterDeps, "db">,
  { tenantId, subject }: Principal,
  id: number,
  { name, description, ifMatch }: AutoAssignmentUpdate & { ifMatch?: IfMatch },
): Promise<void> {
  const row = await getAutoAssignment(deps, tenantId, id);
  requireRevision(ifMatch, row);
  const changed = await withConflicts(() =>
    runOne(deps.db.pool, updateAutoAssignment, [tenantId, id, row.revision, name ?? null, description ?? null, subject]),
  );
  if (!changed) throw changedSinceRead(ifMatch);
}

/** Each command is allowed in one state, and leads to another one. */
const steps = {
  start: { from: "ready", to: "running" },
  pause: { from: "running", to: "paused" },
  resume: { from: "paused", to: "running" },
} as const satisfies Record<string, { from: AutoAssignStatus; to: AutoAssignStatus }>;

/** Starts an auto-assignment before its time, pauses it or resumes it. Nothing is assigned after a pause has been answered. */
export async function stepAutoAssignment(
  deps: Pick<FilterDeps, "db" | "wake">,
  principal: Principal,
  id: number,
  step: keyof typeof steps,
): Promise<void> {
  const { tenantId, subject } = principal;
  const { from, to } = steps[step];
  const row = await getAutoAssignment(deps, tenantId, id);
  checkReach(principal, row, reach);
  checkState(row, from);
  await underLock(deps, principal, { id }, async (tx) => {
    const changed = await runOne(tx, moveAutoAssignment, [tenantId, id, row.revision, to, subject]);
    if (changed && to === "running") await run(tx, notifyFilter, [tenantId, id]);
    return changed;
  });
  deps.wake();
}

/** Approves or denies an auto-assignment that waits for approval. */
export async function decide(deps: Pick<FilterDeps, "db" | "wake">, principal: Principal, id: number, decision: Decision): Promise<void> {
  const row = await getAutoAssignment(deps, principal.tenantId, id);
  checkReach(principal, row, [...reach, "APPROVE_ROLLOUT"]);
  requireRevision(decision.ifMatch, row);
  checkState(row, "waiting_for_approval");
  await decideAutoAssignment(deps, principal, id, decision);
}

/** Ends an auto-assignment: nothing is assigned after the answer. The filter that it belongs to stays and assigns nothing. */
export async function removeAutoAssignment(
  deps: Pick<FilterDeps, "db">,
  principal: Principal,
  id: number,
  { ifMatch }: { ifMatch?: IfMatch } = {},
): Promise<void> {
  const { tenantId } = principal;
  const row = await getAutoAssignment(deps, tenantId, id);
  if (!row.standalone) return endAutoAssign(deps, id, principal, { ifMatch });
  checkReach(principal, row, reach);
  requireRevision(ifMatch, row);
  await underLock(deps, principal, { id, ifMatch }, async (tx) => {
    const gone = await runOne(tx, deleteFilter, [tenantId, id, row.revision]);
    if (gone) await run(tx, dropCandidates, [tenantId, id]);
    return gone;
  });
}

function checkState({ id, status }: AutoAssignmentRow, wanted: AutoAssignStatus): void {
  if (status === wanted) return;
  throw new HarrierError("autoAssignmentIllegalState", `The auto-assignment ${id} is ${status}, not ${wanted}.`);
}
