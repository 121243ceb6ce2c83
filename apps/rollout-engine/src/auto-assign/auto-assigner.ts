import { randomUUID } from "node:crypto";
import { type Queryable, run, runOne } from "@harrier/db";
import { type LeaseOptions, Leases } from "@harrier/jobs";
import { failureMessage } from "../domain/failure.ts";
import { claimFilters, type FilterClaim, notifyForFleet, releaseFilter } from "./leases.sql.ts";
import { type Round, type RunDeps, runFilter } from "./run-filter.ts";

export type AutoAssigner = Leases<FilterClaim>;

const changesPerPoll = 5_000;

/** Makes the filters and dynamic rollouts due whose targets or actions have changed. */
export const noticeFleet = (db: Queryable) => runOne(db, notifyForFleet, [changesPerPoll]);

/** Lets filters that are due assign their sets. Any number of processes share the work; the claims of a process that dies expire. */
export function createAutoAssigner(deps: RunDeps, options: LeaseOptions): AutoAssigner {
  const owner = randomUUID();
  const { pool } = deps.db;
  const release = ({ tenantId, filterId, notifications }: FilterClaim, round: Round, attempts: number, lastError: string | null) => {
    const { progress, cooldownMs, debounceMs, idle } = round;
    return run(pool, releaseFilter, [
      tenantId,
      filterId,
      owner,
      notifications,
      progress,
      cooldownMs,
      debounceMs,
      idle,
      attempts,
      lastError,
    ]);
  };
  return new Leases<FilterClaim>(
    {
      notice: () => noticeFleet(pool),
      claim: (free, perTenant) => run(pool, claimFilters, [owner, options.leaseSeconds, free, perTenant]),
      work: async (claim, signal) => release(claim, await runFilter(deps, claim, signal), 0, null),
      failed: (claim, { attempts, cooldownMs, error }) =>
        release(claim, { progress: claim.progress, cooldownMs, debounceMs: cooldownMs, idle: 0 }, attempts, failureMessage(error)),
      failures: {
        claim: "auto-assignments cannot be looked for, trying again",
        work: "a filter could not assign its set, trying again",
      },
    },
    options,
  );
}
