import type { TargetFilterCreate, TargetFilterUpdate } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { dropCandidates, ringFilter } from "../auto-assign/leases.sql.ts";
import { type Page, type PageQuery, readPage } from "../lists/read-page.ts";
import { parseTargetFilter } from "../matching/matching.ts";
import { withConflicts } from "../rollouts/conflicts.ts";
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
  /** Wakes the engine that assigns. */
  nudge: () => void;
  now: () => number;
}

/** One filter. One round trip. */
export async function getFilter({ db }: Pick<FilterDeps, "db">, tenantId: number, id: number): Promise<FilterRow> {
  const row = await runOne(db.pool, findFilter, [tenantId, id]);
  if (!row) throw entityNotFound("TargetFilterQuery", id);
  return row;
}

/** A filter, or an auto-assignment that belongs to none. One round trip. */
export async function getAutoAssigning({ db }: Pick<FilterDeps, "db">, tenantId: number, id: number): Promise<FilterRow> {
  const row = await runOne(db.pool, findAnyFilter, [tenantId, id]);
  if (!row) throw entityNotFound("TargetFilterQuery", id);
  return row;
}

/** A page of filters (spec 001 §4.5). One round trip. */
export function listFilters(deps: Pick<FilterDeps, "db" | "now">, tenantId: number, query: PageQuery): Promise<Page<FilterRow>> {
  return readPage(deps.db.pool, filterList(tenantId), query, { now: deps.now() });
}

/** A page of the filters that assign a set (spec 001 §4.1); an empty `q` counts as none here (contract management.md §4.1). */
export async function listFiltersOfSet(
  deps: Pick<FilterDeps, "db" | "now">,
  tenantId: number,
  setId: number,
  query: PageQuery,
): Promise<Page<FilterRow>> {
  const asked = { ...query, q: query.q === "" ? undefined : query.q };
  const found = await readPage<FilterRow>(deps.db.pool, filtersOfSet(tenantId, setId), asked, { now: deps.now() });
  if (!found.known) throw entityNotFound("DistributionSet", setId);
  return found;
}

/** Creates a filter (spec 001 §4.5); its query must be one that lists of targets understand. */
export async function createFilter(deps: FilterDeps, { tenantId, subject }: Principal, filter: TargetFilterCreate): Promise<number> {
  parseTargetFilter(filter.query);
  const id = await deps.ids.next(tenantId, "filter");
  await withConflicts(() => run(deps.db.pool, insertFilter, [tenantId, id, filter.name, filter.query, subject]));
  return id;
}

/** Whoever may approve rollouts needs nobody's approval, for auto-assignments too. */
export const mayApprove = ({ permissions }: Pick<Principal, "permissions">): boolean => permissions.includes("APPROVE_ROLLOUT");

/**
 * Changes name or query; absent members stay. A query that addresses too many targets is refused while a set is assigned by it. Where the tenant
 * wants auto-assignments to be approved, another query waits for it anew, unless whoever changes it may approve.
 */
export async function changeFilter(deps: FilterDeps, principal: Principal, id: number, change: TargetFilterUpdate): Promise<void> {
  const { tenantId, subject } = principal;
  const { name = null, query = null } = change;
  const ast = query === null ? null : parseTargetFilter(query);
  const row = await getFilter(deps, tenantId, id);
  const moves = ast !== null && query !== row.query;
  if (moves) checkReach(principal, row, ["READ_TARGET", "UPDATE_TARGET"]);
  if (moves && row.setId !== null) {
    const { setId, setTypeId, targetTypes } = row;
    await checkQuota(deps, { filterId: id, tenantId, setId, setTypeId, targetTypes, filter: ast });
  }
  const changed = await withConflicts(() =>
    inTransaction(deps.db.pool, async (tx) => {
      if (moves) await run(tx, lockAutoAssign, [tenantId, id]);
      const done = await runOne(tx, updateFilter, [tenantId, id, row.revision, name, query, subject, mayApprove(principal)]);
      if (done && moves && row.setId !== null) await run(tx, ringFilter, [tenantId, id]);
      return done;
    }),
  );
  if (!changed) throw new HarrierError("concurrentModification");
  deps.nudge();
}

/** Deletes a filter; its auto-assignment ends, the actions stay (contract management.md §5.1). */
export async function removeFilter(deps: Pick<FilterDeps, "db">, principal: Principal, id: number): Promise<void> {
  const { tenantId } = principal;
  const row = await getFilter(deps, tenantId, id);
  checkReach(principal, row, ["READ_TARGET", "DELETE_TARGET"]);
  const gone = await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, lockAutoAssign, [tenantId, id]);
    const done = await runOne(tx, deleteFilter, [tenantId, id, row.revision]);
    if (done) await run(tx, dropCandidates, [tenantId, id]);
    return done;
  });
  if (!gone) throw new HarrierError("concurrentModification");
}
