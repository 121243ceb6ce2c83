import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { run, runOne } from "@harrier/db";
import { backoffMs, failureMessage } from "../domain/failure.ts";
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
/** At a first start the views of others may not be there yet: that is worth a line only when it lasts. */
const patienceMs = 10_000;
/** A turn that takes longer is left to its end alone; its claim ends by itself. */
const stopLimitMs = 5_000;

/**
 * Looks for filters that are due, claims them by lease and lets each have its turn. Any number of them share the work; the claims of one
 * that is killed end by themselves.
 */
export class AutoAssigner {
  readonly #deps: AutoAssignerDeps;
  readonly #owner = randomUUID();
  readonly #pollMs: number;
  readonly #leaseSeconds: number;
  readonly #slots: number;
  readonly #abort = new AbortController();
  readonly #working = new Set<Promise<void>>();
  #wake = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(deps: AutoAssignerDeps, options: AutoAssignerOptions = {}) {
    this.#deps = deps;
    this.#pollMs = options.pollMs ?? 500;
    this.#leaseSeconds = options.leaseSeconds ?? 20;
    this.#slots = options.slots ?? 3;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** A filter was changed here: look at once. */
  nudge(): void {
    this.#wake.abort();
  }

  /** Stops after the parts that are under way. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.nudge();
    await this.#loop;
    const limit = new AbortController();
    const patience = sleep(stopLimitMs, undefined, { signal: limit.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#working), patience]);
    limit.abort();
  }

  async #run(): Promise<void> {
    let warnAfter = performance.now() + patienceMs;
    let lookedAt = Number.NEGATIVE_INFINITY;
    while (!this.#abort.signal.aborted) {
      this.#wake = new AbortController();
      try {
        if (performance.now() - lookedAt >= this.#pollMs) {
          lookedAt = performance.now();
          await runOne(this.#deps.db.pool, ringForFleet, [changesPerLook]);
        }
        await this.#claim();
        warnAfter = 0;
      } catch (error) {
        if (performance.now() >= warnAfter) {
          this.#deps.log.warn({ err: error }, "auto-assignments cannot be looked for, trying again");
          warnAfter = Number.POSITIVE_INFINITY; // once per outage
        }
      }
      await sleep(Math.max(0, lookedAt + this.#pollMs - performance.now()), undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #claim(): Promise<void> {
    const free = this.#slots - this.#working.size;
    if (free <= 0) return;
    for (const claim of await run(this.#deps.db.pool, claimFilters, [
      this.#owner,
      this.#leaseSeconds,
      free,
      Math.max(1, this.#slots - 1),
    ])) {
      const work = this.#work(claim).finally(() => {
        this.#working.delete(work);
        this.nudge();
      });
      this.#working.add(work);
    }
  }

  async #work(claim: FilterClaim): Promise<void> {
    try {
      await this.#release(claim, await runFilter(this.#deps, claim, this.#abort.signal), 0, null);
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
