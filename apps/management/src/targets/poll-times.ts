import { type Queryable, runOne } from "@harrier/db";
import { defaultText, secondsOf } from "../settings/keys.ts";
import { readPollTimes } from "./targets.sql.ts";

interface PollTimes {
  pollingTime: string | null;
  pollingOverdueTime: string | null;
}

/** Milliseconds after a poll at which the next one is expected, and after which the target counts as overdue (contract management.md §5.11). */
export function pollLimits(times: PollTimes): { expectedMs: number; overdueMs: number } {
  const expectedMs = secondsOf(times.pollingTime ?? defaultText("pollingTime")) * 1000;
  return { expectedMs, overdueMs: expectedMs + secondsOf(times.pollingOverdueTime ?? defaultText("pollingOverdueTime")) * 1000 };
}

/** The macro OVERDUE_TS of target queries: who has polled last before that moment is overdue (contract management.md §6.3). */
export async function overdueMacro(deps: { db: Queryable; now: () => number }, tenantId: number): Promise<{ OVERDUE_TS: number }> {
  const times = await runOne(deps.db, readPollTimes, [tenantId]);
  return { OVERDUE_TS: deps.now() - pollLimits(times ?? { pollingTime: null, pollingOverdueTime: null }).overdueMs };
}
