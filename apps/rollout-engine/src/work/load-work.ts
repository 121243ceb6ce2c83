import { type Queryable, runOne } from "@harrier/db";
import type { Progress } from "../domain/facts.ts";
import { loadWork, type RolloutWork } from "./load-work.sql.ts";

export type { GroupWork, RolloutWork } from "./load-work.sql.ts";

/** Answers a rollout with its groups and their progress as of one moment, in one round trip; undefined if there is none. */
export function loadRolloutWork(db: Queryable, tenantId: number, rolloutId: number): Promise<RolloutWork | undefined> {
  return runOne(db, loadWork, [tenantId, rolloutId]);
}

/** Answers the progress by group. */
export function progressOf(work: RolloutWork): Progress {
  return new Map(work.progress.map((group) => [group.groupId, group]));
}
