import { loadRolloutWork, progressOf, type RolloutWork } from "../work/load-work.ts";
import { advance, type Command } from "./advance.ts";
import { type PerformDeps, perform, workMs } from "./perform.ts";

/** How a turn of a rollout ended. */
export interface Turn {
  /** When it should be looked at next (epoch ms), null for "when something happens". */
  dueAt: number | null;
  /** Somewhere: a failure before it is over. */
  got: boolean;
}

/** There is more to do: at once, but behind those that wait already. By no clock, since it is the database's that counts. */
const again = 0;

/**
 * Gives a rollout its turn: looks, decides, acts, and looks again, until it has to wait or others deserve theirs. A single step may take
 * longer (a freeze is one statement); more of them are not begun.
 */
export async function driveRollout(
  deps: PerformDeps,
  { tenantId, rolloutId }: { tenantId: number; rolloutId: number },
  signal: AbortSignal,
): Promise<Turn> {
  const end = deps.now() + workMs;
  for (let got = false; ; got = true) {
    if (signal.aborted || (got && deps.now() >= end)) return { dueAt: again, got };
    const work = await loadRolloutWork(deps.db.pool, tenantId, rolloutId);
    if (!work) return { dueAt: null, got: true };
    // due at once, but not taken again before the tenant is back (work/leases.sql.ts)
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
