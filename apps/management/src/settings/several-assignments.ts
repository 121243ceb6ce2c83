import { type Queryable, runOne } from "@harrier/db";
import { readSeveralAssignments } from "./settings.sql.ts";

/** Whether the tenant lets several actions of a target be open at once (contract rollouts.md §6.9). One round trip. */
export async function allowsSeveralAssignments(db: Queryable, tenantId: number): Promise<boolean> {
  return (await runOne(db, readSeveralAssignments, [tenantId]))?.on ?? false;
}
