import { randomUUID } from "node:crypto";
import { run } from "@harrier/db";
import { backoffMs, failureMessage } from "../domain/failure.ts";
import { TurnLoop } from "../work/turns.ts";
import { type FillDeps, fillRollout, type Rest } from "./fill.ts";
import { claimFills, type FillClaim, releaseFill } from "./leases.sql.ts";

export interface FillerDeps extends FillDeps {
  log: { warn(fields: object, message: string): void };
}

export interface FillerOptions {
  /** Between two looks when nobody nudges. */
  pollMs?: number;
  /** How long a claim outlives its filler; longer than a look at a large fleet takes. */
  leaseSeconds?: number;
  /** Rollouts looked at at the same time; one tenant has all but one of them at most. */
  slots?: number;
}

/** Lets targets join running dynamic rollouts, by any number of processes; what one that dies had claimed comes free by itself. */
export function createFiller(deps: FillerDeps, { pollMs = 500, leaseSeconds = 20, slots = 3 }: FillerOptions = {}): TurnLoop<FillClaim> {
  const owner = randomUUID();
  const { db, log } = deps;
  const release = (claim: FillClaim, { restMs, deafMs, idle }: Rest, attempts: number, lastError: string | null) =>
    run(db.pool, releaseFill, [claim.tenantId, claim.rolloutId, owner, claim.rung, restMs, deafMs, idle, attempts, lastError]);

  const take = async (claim: FillClaim): Promise<void> => {
    try {
      await release(claim, await fillRollout(deps, claim), 0, null);
    } catch (error) {
      const attempts = claim.attempts + 1;
      const restMs = backoffMs(attempts);
      log.warn({ err: error, ...claim, attempts, restMs }, "no target could join a dynamic rollout, trying again");
      // if even this fails, the claim ends by itself
      await release(claim, { restMs, deafMs: restMs, idle: 0 }, attempts, failureMessage(error)).catch(() => {});
    }
  };
  const failed = (error: unknown): void => log.warn({ err: error }, "dynamic rollouts cannot be looked for, trying again");
  const perTenant = Math.max(1, slots - 1);
  const claim = (free: number) => run(db.pool, claimFills, [owner, leaseSeconds, free, perTenant]);
  return new TurnLoop({ claim, take, failed }, { pollMs, slots });
}
