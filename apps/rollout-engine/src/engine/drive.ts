import { loadRolloutWork, progressOf, type RolloutWork } from "../work/load-work.ts";
import { advance, type Command } from "./advance.ts";
import { type PerformDeps, perform, workMs } from "./perform.ts";

/** The result of a round of a rollout. */
export interface Round {
  /** It is due next at this time (epoch ms); null stands for the next notification. */
  dueAt: number | null;
  /** It is true once the first step has succeeded, so that an older failure is over. */
  got: boolean;
}

/** The rollout is due at once, but behind those that wait already. It is no reading of a clock, because only the clock of the database counts. */
const again = 0;

/**
 * Works on one rollout: reads its state, decides, acts and reads again, until it has to wait or its time is up. A single step may take longer (a
 * freeze is one statement), but no further step begins.
 */
export async function driveRollout(
  deps: PerformDeps,
  { tenantId, rolloutId }: { tenantId: number; rolloutId: number },
  signal: AbortSignal,
): Promise<Round> {
  const end = deps.now() + workMs;
  for (let got = false; ; got = true) {
    if (signal.aborted || (got && deps.now() >= end)) return { dueAt: again, got };
    const work = await loadRolloutWork(deps.db.pool, tenantId, rolloutId);
    if (!work) return { dueAt: null, got: true };
    // it stays due, but is not claimed again before the tenant is resumed (work/leases.sql.ts)
    if (!work.tenantActive) return { dueAt: again, got };
    for (const command of decide(work, deps.now())) {
      if (command.do === "wait") return { dueAt: command.until, got: true };
      await perform(deps, work, command, signal);
    }
  }
}

function decide(work: RolloutWork, now: number): Command[] {
  return advance(work, work.groups, progressOf(work), now);
}
