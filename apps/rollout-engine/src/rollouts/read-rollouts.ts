import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { type ListQuery, type Page, readPage, type SoftDeletedMode } from "@harrier/query";
import type { Principal } from "@harrier/rpc";
import { visibleReach } from "./check-reach.ts";
import { findRollout, type RolloutRow, rolloutList } from "./rollouts.sql.ts";

export interface ReadDeps {
  db: Database;
  now: () => number;
}

/** Answers one rollout, even a deleted one (contract rollouts.md §2), in one round trip. */
export async function getRollout(deps: Pick<ReadDeps, "db">, tenantId: number, id: number): Promise<RolloutRow> {
  const row = await runOne(deps.db.pool, findRollout, [tenantId, id]);
  if (!row) throw entityNotFound("Rollout", id);
  return row;
}

/** Answers a page of the rollouts that the caller may see (spec 001 §4.6), in one round trip. */
export function listRollouts(deps: ReadDeps, principal: Principal, mode: SoftDeletedMode, query: ListQuery): Promise<Page<RolloutRow>> {
  return readPage({ db: deps.db.pool, now: deps.now }, rolloutList(principal.tenantId, mode, visibleReach(principal)), query);
}
