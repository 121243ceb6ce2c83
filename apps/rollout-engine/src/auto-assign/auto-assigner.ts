import { randomUUID } from "node:crypto";
import { run, runOne } from "@harrier/db";
import { backoffMs, failureMessage } from "../domain/failure.ts";
import { TurnLoop, type Turns } from "../work/turns.ts";
import { claimFilters, type FilterClaim, releaseFilter, ringForFleet } from "./leases.sql.ts";
import { type RunDeps, runFilter, type Turn } from "./run-filter.ts";

export interface AutoAssignerDeps extends RunDeps {
  log: { warn(fields: object, message: string): void };
}

export interface AutoAssignerOptions {
  /** Between two looks when nobody nudges. */
  pollMs?: number;
  /** How long a claim outlives its engine; longer than a turn takes. */
  leaseSeconds?: number;
  /** Filters worked on at the same time; one tenant has all but one of them at most. */
  slots?: number;
}

const changesPerLook = 5_000;

/** Lets filters that are due assign their sets, by any number of processes; what one that dies had claimed comes free by itself. */
export class AutoAssigner {
  readonly #deps: AutoAssignerDeps;
  readonly #owner = randomUUID();
  readonly #loop: TurnLoop<FilterClaim>;

  constructor(deps: AutoAssignerDeps, { pollMs = 500, leaseSeconds = 20, slots = 3 }: AutoAssignerOptions = {}) {
    this.#deps = deps;
    const { pool } = deps.db;
    const perTenant = Math.max(1, slots - 1);
    const turns: Turns<FilterClaim> = {
      ring: () => runOne(pool, ringForFleet, [changesPerLook]),
      claim: (free) => run(pool, claimFilters, [this.#owner, leaseSeconds, free, perTenant]),
      take: (claim, signal) => this.#work(claim, signal),
      failed: (error) => deps.log.warn({ err: error }, "auto-assignments cannot be looked for, trying again"),
    };
    this.#loop = new TurnLoop(turns, { pollMs, slots });
  }

  start(): void {
    this.#loop.start();
  }

  /** A filter was changed here: look at once. */
  nudge(): void {
    this.#loop.nudge();
  }

  /** Stops after the parts that are under way. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #work(claim: FilterClaim, signal: AbortSignal): Promise<void> {
    try {
      await this.#release(claim, await runFilter(this.#deps, claim, signal), 0, null);
    } catch (error) {
      const attempts = claim.attempts + 1;
      const restMs = backoffMs(attempts);
      this.#deps.log.warn({ err: error, ...claim, attempts, restMs }, "a filter could not assign its set, trying again");
      const turn = { progress: claim.progress, restMs, deafMs: restMs, idle: 0 };
      // if even this fails, the claim ends by itself
      await this.#release(claim, turn, attempts, failureMessage(error)).catch(() => {});
    }
  }

  async #release(claim: FilterClaim, turn: Turn, attempts: number, lastError: string | null): Promise<void> {
    const { tenantId, filterId, rung } = claim;
    const { progress, restMs, deafMs, idle } = turn;
    await run(this.#deps.db.pool, releaseFilter, [
      tenantId,
      filterId,
      this.#owner,
      rung,
      progress,
      restMs,
      deafMs,
      idle,
      attempts,
      lastError,
    ]);
  }
}
