import { type Queryable, runOne } from "@harrier/db";
import type { Progress } from "../domain/facts.ts";
import { loadWork, type RolloutWork } from "./load-work.sql.ts";

export type { GroupWork, RolloutWork } from "./load-work.sql.ts";

/** A rollout with its groups and their progress, as of one moment; undefined when there is none. One round trip. */
export function loadRolloutWork(db: Queryable, tenantId: number, rolloutId: number): Promise<RolloutWork | undefined> {
  return runOne(db, loadWork, [tenantId, rolloutId]);
}

/** Progress by group. */
export function progressOf(work: RolloutWork): Progress {
  return new Map(work.progress.map((group) => [group.groupId, group]));
}
