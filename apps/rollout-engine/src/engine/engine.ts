import { randomUUID } from "node:crypto";
import { type Queryable, run, runOne } from "@harrier/db";
import { type LeaseOptions, Leases } from "@harrier/jobs";
import { failureMessage } from "../domain/failure.ts";
import { driveRollout } from "./drive.ts";
import { type Claim, claimDue, notifyForProgress, releaseClaim, renewClaims } from "./leases.sql.ts";
import type { PerformDeps } from "./perform.ts";

export type RolloutEngine = Leases<Claim>;

const progressPerPoll = 5_000;

/** Makes the rollouts due whose actions have changed. */
export const noticeProgress = (db: Queryable) => runOne(db, notifyForProgress, [progressPerPoll]);

interface Released {
  dueAt: number | null;
  cooldownMs: number;
  attempts: number | null;
  lastError: string | null;
}

const keyOf = ({ tenantId, rolloutId }: { tenantId: number; rolloutId: number }): string => `${tenantId}/${rolloutId}`;

/**
 * Claims rollouts that are due, when it is woken (due-work, commands) and every 15 s, by lease, and drives them. Any number of engines share the
 * work. The claims of an engine that is killed expire within seconds, and another one continues the work.
 */
export function createEngine(deps: PerformDeps, options: LeaseOptions): RolloutEngine {
  const owner = randomUUID();
  const { pool } = deps.db;
  const { leaseSeconds } = options;
  const release = ({ tenantId, rolloutId, notifications }: Claim, { dueAt, cooldownMs, attempts, lastError }: Released) =>
    run(pool, releaseClaim, [tenantId, rolloutId, owner, notifications, dueAt, cooldownMs, attempts, lastError]);
  return new Leases<Claim>(
    {
      notice: () => noticeProgress(pool),
      claim: (free, perTenant) => run(pool, claimDue, [owner, leaseSeconds, free, perTenant]),
      async work(claim, signal) {
        const { dueAt, got } = await driveRollout(deps, claim, signal);
        await release(claim, { dueAt, cooldownMs: 0, attempts: got ? 0 : null, lastError: null });
      },
      failed: (claim, { attempts, cooldownMs, error }) =>
        release(claim, { dueAt: null, cooldownMs, attempts, lastError: failureMessage(error) }),
      renewal: {
        renew: async () => (await run(pool, renewClaims, [owner, leaseSeconds])).map(keyOf),
        keyOf,
        failure: "claims could not be renewed",
      },
      failures: {
        claim: "the engine cannot look for work, trying again",
        work: "a rollout could not go on, trying again",
      },
    },
    options,
  );
}
