import { type Queryable, runOne } from "@harrier/db";
import { readSeveralAssignments } from "./settings.sql.ts";

/** Says whether the tenant allows several open actions of a target (contract rollouts.md §6.9). It costs one round trip. */
export async function allowsSeveralAssignments(db: Queryable, tenantId: number): Promise<boolean> {
  return (await runOne(db, readSeveralAssignments, [tenantId]))?.on ?? false;
}
