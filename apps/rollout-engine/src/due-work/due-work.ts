import { type Database, runOne } from "@harrier/db";
import { noticeFleet } from "../auto-assign/auto-assigner.ts";
import { noticeProgress } from "../engine/engine.ts";
import { findDueWork } from "./due-work.sql.ts";

type Worker = "rollouts" | "auto-assignments" | "dynamic-rollouts";

export interface DueWorkDeps {
  readonly db: Pick<Database, "pool">;
  readonly wake: (worker: Worker) => void;
}

/**
 * Looks once for what all workers wait for, and wakes those that have something to do: without work that is one cheap question instead of five.
 * False when there is none and none is expected, so that an installation in which nothing is under way is asked more seldom.
 */
export async function wakeForDueWork({ db, wake }: DueWorkDeps): Promise<false | undefined> {
  const due = await runOne(db.pool, findDueWork, []);
  if (due === undefined) return undefined;
  const { progress, fleet } = due;
  await Promise.all([progress ? noticeProgress(db.pool) : undefined, fleet ? noticeFleet(db.pool) : undefined]);
  if (progress || due.rollouts) wake("rollouts");
  if (fleet || due.autoAssignments) wake("auto-assignments");
  if (fleet || due.dynamicRollouts) wake("dynamic-rollouts");
  const found = progress || fleet || due.rollouts || due.autoAssignments || due.dynamicRollouts;
  return found || due.expected ? undefined : false;
}
