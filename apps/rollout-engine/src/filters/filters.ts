import type { TargetFilterCreate, TargetFilterUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type IfMatch, type ListQuery, type Page, readPage, requireRevision, withConflicts } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { dropCandidates, notifyFilter } from "../auto-assign/leases.sql.ts";
import { parseTargetFilter } from "../matching/matching.ts";
import { lockAutoAssign } from "./auto-assign.sql.ts";
import { checkQuota } from "./check-quota.ts";
import { checkReach } from "./check-reach.ts";
import {
  deleteFilter,
  type FilterRow,
  filterList,
  filtersOfSet,
  findAnyFilter,
  findFilter,
  insertFilter,
  updateFilter,
} from "./filters.sql.ts";

export interface FilterDeps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  /** Wakes the worker that assigns. */
  wake: () => void;
  now: () => number;
}

/** Answers one filter, in one round trip. */
export async function getFilter({ db }: Pick<FilterDeps, "db">, tenantId: number, id: number): Promise<FilterRow> {
  const row = await runOne(db.pool, findFilter, [tenantId, id]);
  if (!row) throw entityNotFound("TargetFilterQuery", id);
  return row;
}

/** Answers a filter, or an auto-assignment that belongs to none, in one round trip. */
export async function getAutoAssigning({ db }: Pick<FilterDeps, "db">, tenantId: number, id: number): Promise<FilterRow> {
  const row = await runOne(db.pool, findAnyFilter, [tenantId, id]);
  if (!row) throw entityNotFound("TargetFilterQuery", id);
  return row;
}

/** Answers a page of filters (spec 001 §4.5), in one round trip. */
export function listFilters(deps: Pick<FilterDeps, "db" | "now">, tenantId: number, query: ListQuery): Promise<Page<FilterRow>> {
  return readPage({ db: deps.db.pool, now: deps.now }, filterList(tenantId), query);
}

/** Answers a page of the filters that assign a set (spec 001 §4.1). An empty `q` counts as none here (contract management.md §4.1). */
export async function listFiltersOfSet(
  deps: Pick<FilterDeps, "db" | "now">,
  tenantId: number,
  setId: number,
  query: ListQuery,
): Promise<Page<FilterRow>> {
  const requested = { ...query, q: query.q === "" ? undefined : query.q };
  const found = await readPage<FilterRow>({ db: deps.db.pool, now: deps.now }, filtersOfSet(tenantId, setId), requested);
  if (!found.known) throw entityNotFound("DistributionSet", setId);
  return found;
}

/** Creates a filter (spec 001 §4.5). Its query must be valid for lists of targets. */
export async function createFilter(deps: FilterDeps, { tenantId, subject }: Principal, filter: TargetFilterCreate): Promise<number> {
  parseTargetFilter(filter.query);
  const id = await deps.ids.next(tenantId, "filter");
  await withConflicts(() => run(deps.db.pool, insertFilter, [tenantId, id, filter.name, filter.query, subject]));
  return id;
}

/** Whoever may approve rollouts needs no approval, for auto-assignments either. */
export const mayApprove = ({ permissions }: Pick<Principal, "permissions">): boolean => permissions.includes("APPROVE_ROLLOUT");

/**
 * Changes name or query; absent members stay. If the filter assigns a set, a query that matches too many targets is refused. If the tenant requires
 * approval of auto-assignments, another query waits for it again, unless the caller may approve.
 */
export async function changeFilter(
  deps: FilterDeps,
  principal: Principal,
  id: number,
  { ifMatch, ...change }: TargetFilterUpdate & { ifMatch?: IfMatch },
): Promise<void> {
  const { tenantId, subject } = principal;
  const { name = null, query = null } = change;
  const ast = query === null ? null : parseTargetFilter(query);
  const row = await getFilter(deps, tenantId, id);
  const moves = ast !== null && query !== row.query;
  if (moves) checkReach(principal, row, ["READ_TARGET", "UPDATE_TARGET"]);
  requireRevision(ifMatch, row);
  if (moves && row.setId !== null) {
    const { setId, setTypeId, targetTypes } = row;
    await checkQuota(deps, { filterId: id, tenantId, setId, setTypeId, targetTypes, filter: ast });
  }
  const changed = await withConflicts(() =>
    inTransaction(deps.db.pool, async (tx) => {
      if (moves) await run(tx, lockAutoAssign, [tenantId, id]);
      const done = await runOne(tx, updateFilter, [tenantId, id, row.revision, name, query, subject, mayApprove(principal)]);
      if (done && moves && row.setId !== null) await run(tx, notifyFilter, [tenantId, id]);
      return done;
    }),
  );
  if (!changed) throw changedSinceRead(ifMatch);
  deps.wake();
}

/** Deletes a filter and ends its auto-assignment; the actions stay (contract management.md §5.1). */
export async function removeFilter(
  deps: Pick<FilterDeps, "db">,
  principal: Principal,
  id: number,
  { ifMatch }: { ifMatch?: IfMatch } = {},
): Promise<void> {
  const { tenantId } = principal;
  const row = await getFilter(deps, tenantId, id);
  checkReach(principal, row, ["READ_TARGET", "DELETE_TARGET"]);
  requireRevision(ifMatch, row);
  const gone = await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, lockAutoAssign, [tenantId, id]);
    const done = await runOne(tx, deleteFilter, [tenantId, id, row.revision]);
    if (done) await run(tx, dropCandidates, [tenantId, id]);
    return done;
  });
  if (!gone) throw changedSinceRead(ifMatch);
}

/**
 * The statement writes the revision alone that was read before, so a change in between refuses it: as a precondition for a caller who named the
 * revision, who must not repeat the request as it is.
 */
export const changedSinceRead = (ifMatch: IfMatch): HarrierError =>
  new HarrierError(ifMatch === undefined ? "concurrentModification" : "entityChanged");
