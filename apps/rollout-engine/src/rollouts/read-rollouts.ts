import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { type Page, type PageQuery, readPage } from "../lists/read-page.ts";
import { visibleReach } from "./check-reach.ts";
import { findRollout, listSource, type RolloutRow, type SoftDeletedMode } from "./rollouts.sql.ts";

export interface ReadDeps {
  db: Database;
  now: () => number;
}

/** One rollout, deleted ones too (contract rollouts.md §2). One round trip. */
export async function getRollout(deps: Pick<ReadDeps, "db">, tenantId: number, id: number): Promise<RolloutRow> {
  const row = await runOne(deps.db.pool, findRollout, [tenantId, id]);
  if (!row) throw entityNotFound("Rollout", id);
  return row;
}

/** A page of the rollouts that the caller may see (spec 001 §4.6). One round trip. */
export function listRollouts(deps: ReadDeps, principal: Principal, mode: SoftDeletedMode, query: PageQuery): Promise<Page<RolloutRow>> {
  return readPage(deps.db.pool, listSource(principal.tenantId, mode, visibleReach(principal)), query, { now: deps.now() });
}
