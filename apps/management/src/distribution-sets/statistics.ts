import { actionStatusNames } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound } from "@harrier/errors";
import { scopeOf } from "@harrier/query";
import type { Identity } from "@harrier/rpc";
import { countUses } from "./statistics.sql.ts";

/** This maps an upper-case status to its count; a status that nothing has is absent. */
export type Counts = Readonly<Record<string, number>>;

/** This says what uses a set. */
export interface SetStatistics {
  actions: Counts;
  rollouts: Counts;
  autoAssignments: number;
}

/** Counts the requested parts; the others are empty (spec 001 §4.1.3). */
export async function readStatistics(
  deps: { db: Database },
  identity: Pick<Identity, "tenantId" | "targetTypeScopes">,
  { id, actions, rollouts, autoAssignments }: { id: number; actions: boolean; rollouts: boolean; autoAssignments: boolean },
): Promise<SetStatistics> {
  const row = await runOne(deps.db.pool, countUses, [
    identity.tenantId,
    id,
    actions,
    rollouts,
    autoAssignments,
    scopeOf(identity, "READ_TARGET"),
  ]);
  if (row === undefined) throw entityNotFound("DistributionSet", id);
  return {
    actions: byName(row.actions, (code) => actionStatusNames[Number(code)] ?? code),
    rollouts: byName(row.rollouts, (status) => status),
    autoAssignments: row.autoAssignments,
  };
}

function byName(counts: Record<string, number> | null, nameOf: (status: string) => string): Counts {
  return Object.fromEntries(Object.entries(counts ?? {}).map(([status, count]) => [nameOf(status).toUpperCase(), count]));
}
