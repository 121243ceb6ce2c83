import { randomUUID } from "node:crypto";
import { run } from "@harrier/db";
import { type LeaseOptions, Leases } from "@harrier/jobs";
import { failureMessage } from "../domain/failure.ts";
import { type Cooldown, type FillDeps, fillRollout } from "./fill.ts";
import { claimFills, type FillClaim, releaseFill } from "./leases.sql.ts";

/** Lets targets join running dynamic rollouts. Any number of processes share the work; the claims of a process that dies expire. */
export function createFiller(deps: FillDeps, options: LeaseOptions): Leases<FillClaim> {
  const owner = randomUUID();
  const { pool } = deps.db;
  const release = (claim: FillClaim, { cooldownMs, debounceMs, idle }: Cooldown, attempts: number, lastError: string | null) =>
    run(pool, releaseFill, [
      claim.tenantId,
      claim.rolloutId,
      owner,
      claim.notifications,
      cooldownMs,
      debounceMs,
      idle,
      attempts,
      lastError,
    ]);
  return new Leases<FillClaim>(
    {
      claim: (free, perTenant) => run(pool, claimFills, [owner, options.leaseSeconds, free, perTenant]),
      work: async (claim) => release(claim, await fillRollout(deps, claim), 0, null),
      failed: (claim, { attempts, cooldownMs, error }) =>
        release(claim, { cooldownMs, debounceMs: cooldownMs, idle: 0 }, attempts, failureMessage(error)),
      failures: {
        claim: "dynamic rollouts cannot be looked for, trying again",
        work: "no target could join a dynamic rollout, trying again",
      },
    },
    options,
  );
}
