import { type Database, runOne } from "@harrier/db";
import { noticeFleet } from "../auto-assign/auto-assigner.ts";
import { noticeProgress } from "../engine/engine.ts";
import { findDueWork } from "./due-work.sql.ts";

type Worker = "rollouts" | "auto-assignments" | "dynamic-rollouts";

export interface DueWorkDeps {
  readonly db: Pick<Database, "pool">;
  readonly wake: (worker: Worker) => void;
}

/** While a rollout runs its progress is looked for this often, because the devices of the next group wait for it. */
const whileRunningMs = 100;

/**
 * Looks once for what all workers wait for, and wakes those that have something to do: without work that is one cheap question instead of five.
 * Answers the wait for the next look while a rollout runs, and false when nothing is under way and nothing is expected, so that such an
 * installation is asked more seldom.
 */
export async function wakeForDueWork({ db, wake }: DueWorkDeps): Promise<{ againMs: number } | false | undefined> {
  const due = await runOne(db.pool, findDueWork, []);
  if (due === undefined) return undefined;
  const { progress, fleet } = due;
  // What is due already does not wait for the notices, and neither notice for the other: each may have to wait for a lock.
  if (due.rollouts) wake("rollouts");
  if (due.autoAssignments) wake("auto-assignments");
  if (due.dynamicRollouts) wake("dynamic-rollouts");
  const notices = await Promise.allSettled([
    progress ? noticeProgress(db.pool).then(() => wake("rollouts")) : undefined,
    fleet
      ? noticeFleet(db.pool).then(() => {
          wake("auto-assignments");
          wake("dynamic-rollouts");
        })
      : undefined,
  ]);
  const failed = notices.find((notice) => notice.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const found = progress || fleet || due.rollouts || due.autoAssignments || due.dynamicRollouts;
  if (due.running) return { againMs: whileRunningMs };
  return found || due.expected ? undefined : false;
}
