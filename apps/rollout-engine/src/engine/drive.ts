import { loadRolloutWork, progressOf, type RolloutWork } from "../work/load-work.ts";
import { advance, type Command } from "./advance.ts";
import { type PerformDeps, perform } from "./perform.ts";

/**
 * Takes a rollout as far as it goes now: looks, decides, acts, and looks again. Answers when it should be looked at next (epoch ms), or
 * null for "when something happens".
 */
export async function driveRollout(
  deps: PerformDeps,
  { tenantId, rolloutId }: { tenantId: number; rolloutId: number },
  signal: AbortSignal,
): Promise<number | null> {
  for (;;) {
    if (signal.aborted) return deps.now();
    const work = await loadRolloutWork(deps.db.pool, tenantId, rolloutId);
    if (!work) return null;
    // due at once, but not taken again before the tenant is back (leases.sql.ts)
    if (!work.tenantActive) return deps.now();
    for (const command of decide(work, deps.now())) {
      if (command.do === "wait") return command.until;
      await perform(deps, work, command, signal);
    }
  }
}

function decide(work: RolloutWork, now: number): Command[] {
  return advance(work, work.groups, progressOf(work), now);
}
