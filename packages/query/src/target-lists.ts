import { overdueMacro, type PollTimes } from "@harrier/contracts";
import { type Database, runOne, statement } from "@harrier/db";
import type { ListDeps } from "./list.ts";

const readPollTimes = statement<[tenantId: number], PollTimes>(
  "query.read_poll_times",
  `select max(value #>> '{}') filter (where key = 'pollingTime') as "pollingTime",
          max(value #>> '{}') filter (where key = 'pollingOverdueTime') as "pollingOverdueTime"
     from management.tenant_settings_v1 where tenant_id = $1 and key in ('pollingTime', 'pollingOverdueTime')`,
);

/**
 * Prepares the reading of lists of targets: a query may name `${OVERDUE_TS}`, for which the tenant's polling times are read in one more round trip.
 */
export function targetLists({ db, now }: { db: Pick<Database, "pool">; now: () => number }, tenantId: number): ListDeps {
  const macros = async (): Promise<Record<string, number>> => {
    const times = await runOne(db.pool, readPollTimes, [tenantId]);
    return overdueMacro(times ?? { pollingTime: null, pollingOverdueTime: null }, now());
  };
  return { db: db.pool, now, macros };
}
