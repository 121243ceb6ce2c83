import { type Queryable, run, runOne } from "@harrier/db";
import { alone, gather } from "../gather.ts";
import type { PollingPlan } from "../settings/polling-plan.ts";
import { type OverridingStatements, overridingStatements } from "./overrides.sql.ts";
import { type PollRow, pollStatements } from "./poll.sql.ts";

/** Identifies one target's poll. */
export interface PollKey {
  tenantId: number;
  controllerId: string;
  address: string | null;
}

/** Without a plan, or where it has no overrides, the polls of all tenants are read alike. */
export type PollReader = (key: PollKey, plan?: PollingPlan) => Promise<PollRow | undefined>;

type ReadPoll = (key: PollKey) => Promise<PollRow | undefined>;

const maxStatements = 4;
/** Tenants with overrides wait for each other rather than for the connections that reports need. */
const maxOverriding = 2;

const nothing: readonly unknown[] = [];
/** Without overrides the statements are the same for all tenants. */
const usual: OverridingStatements = { statements: pollStatements(), values: () => nothing };

/**
 * Makes the reader of all polls. Polls of tenants whose polling time depends on queries are gathered apart, because they use another statement; it
 * lasts as long as its plan, which tenants with equal settings share.
 */
export function createPollReader(db: Queryable, now: () => number = () => performance.now()): PollReader {
  const readUsual = gatherPolls(db, usual, { now, maxStatements });
  const byPlan = new WeakMap<PollingPlan, ReadPoll>();

  function readerOf(plan: PollingPlan): ReadPoll {
    const overriding = overridingStatements(plan);
    const read = overriding === undefined ? readUsual : gatherPolls(db, overriding, { now, maxStatements: maxOverriding });
    byPlan.set(plan, read);
    return read;
  }

  return (key, plan) => {
    if (plan === undefined || plan.overrides.length === 0) return readUsual(key);
    return (byPlan.get(plan) ?? readerOf(plan))(key);
  };
}

function gatherPolls(
  db: Queryable,
  { statements, values }: OverridingStatements,
  options: { now(): number; maxStatements: number },
): ReadPoll {
  return gather<PollKey, PollRow | undefined>({
    ...options,
    oneNeverWaits: true,
    one: ({ tenantId, controllerId, address }) => runOne(db, statements.one, [tenantId, controllerId, address, ...values()]),
    async many(keys) {
      const rows = await run(db, statements.many, [
        keys.map((key) => key.tenantId),
        keys.map((key) => key.controllerId),
        keys.map((key) => key.address),
        ...values(),
      ]);
      const answers: (PollRow | typeof alone | undefined)[] = keys.map(() => undefined);
      for (const row of rows) answers[row.place - 1] = row.stale ? alone : row;
      return answers;
    },
  });
}
