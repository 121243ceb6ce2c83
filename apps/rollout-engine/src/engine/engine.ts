import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { run, runOne } from "@harrier/db";
import { backoffMs, failureMessage } from "../domain/failure.ts";
import { driveRollout } from "./drive.ts";
import { type Claim, claimDue, releaseClaim, renewClaims, ringForProgress } from "./leases.sql.ts";
import type { PerformDeps } from "./perform.ts";

export interface EngineDeps extends PerformDeps {
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

export interface EngineOptions {
  /** Between two looks when nobody rings. */
  pollMs?: number;
  /** How long a claim outlives its engine. */
  leaseSeconds?: number;
  /** Rollouts worked on at the same time; one tenant has all but one of them at most. */
  slots?: number;
}

/** At a first start the views of others may not be there yet: that is worth a line only when it lasts. */
const patienceMs = 10_000;
const progressPerLook = 5_000;
/** A chunk that takes longer is left to its end alone; its claim ends by itself. */
const stopLimitMs = 5_000;

interface Released {
  dueAt: number | null;
  restMs: number;
  attempts: number | null;
  lastError: string | null;
}

const keyOf = ({ tenantId, rolloutId }: { tenantId: number; rolloutId: number }): string => `${tenantId}/${rolloutId}`;

/**
 * The tick: looks for rollouts that are due, claims them by lease and drives them. Any number of engines share the work; the claims of
 * one that is killed end by themselves within seconds, and its successor goes on where it was.
 */
export class RolloutEngine {
  readonly #deps: EngineDeps;
  readonly #owner = randomUUID();
  readonly #pollMs: number;
  readonly #leaseSeconds: number;
  readonly #slots: number;
  readonly #working = new Map<string, { abort: AbortController; done: Promise<void> }>();
  #stopped = false;
  #wake: () => void = () => {};
  #nudged = false;
  #loop: Promise<void> = Promise.resolve();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(deps: EngineDeps, options: EngineOptions = {}) {
    this.#deps = deps;
    this.#pollMs = options.pollMs ?? 500;
    this.#leaseSeconds = options.leaseSeconds ?? 4;
    this.#slots = options.slots ?? 4;
  }

  start(): void {
    this.#heartbeat = setInterval(() => void this.#renew(), (this.#leaseSeconds * 1000) / 4);
    this.#loop = this.#run();
  }

  /** Something was written here that the engine should see at once. */
  nudge(): void {
    this.#nudged = true;
    this.#wake();
  }

  /** Stops after the chunks that are under way, and gives all claims back so that another engine need not wait for them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    for (const { abort } of this.#working.values()) abort.abort();
    await this.#loop;
    const ended = Promise.all([...this.#working.values()].map(({ done }) => done));
    const limit = new AbortController();
    await Promise.race([ended, sleep(stopLimitMs, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
    clearInterval(this.#heartbeat);
  }

  async #run(): Promise<void> {
    let warnAfter = performance.now() + patienceMs;
    let lookedAt = 0;
    while (!this.#stopped) {
      this.#nudged = false;
      try {
        // a nudge is about what was just written here; what devices do is looked at at its own pace
        if (performance.now() - lookedAt >= this.#pollMs) {
          lookedAt = performance.now();
          await runOne(this.#deps.db.pool, ringForProgress, [progressPerLook]);
        }
        await this.#claim();
        warnAfter = 0;
      } catch (error) {
        if (performance.now() >= warnAfter) {
          this.#deps.log.warn({ err: error }, "the engine cannot look for work, trying again");
          warnAfter = Number.POSITIVE_INFINITY; // once per outage
        }
      }
      await this.#sleep(Math.max(0, lookedAt + this.#pollMs - performance.now()));
    }
  }

  #sleep(ms: number): Promise<void> {
    if (this.#nudged || this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #claim(): Promise<void> {
    const free = this.#slots - this.#working.size;
    if (free <= 0) return;
    for (const claim of await run(this.#deps.db.pool, claimDue, [this.#owner, this.#leaseSeconds, free, Math.max(1, this.#slots - 1)])) {
      const key = keyOf(claim);
      const abort = new AbortController();
      const done = this.#work(claim, abort.signal).finally(() => {
        this.#working.delete(key);
        this.nudge();
      });
      this.#working.set(key, { abort, done });
    }
  }

  async #work(claim: Claim, signal: AbortSignal): Promise<void> {
    try {
      const { dueAt, got } = await driveRollout(this.#deps, claim, signal);
      await this.#release(claim, { dueAt, restMs: 0, attempts: got ? 0 : null, lastError: null });
    } catch (error) {
      const attempts = claim.attempts + 1;
      const restMs = backoffMs(attempts);
      this.#deps.log.warn({ err: error, ...claim, attempts, restMs }, "a rollout could not go on, trying again");
      // if even this fails, the claim ends by itself
      await this.#release(claim, { dueAt: null, restMs, attempts, lastError: failureMessage(error) }).catch(() => {});
    }
  }

  async #release({ tenantId, rolloutId, rung }: Claim, { dueAt, restMs, attempts, lastError }: Released): Promise<void> {
    await run(this.#deps.db.pool, releaseClaim, [tenantId, rolloutId, this.#owner, rung, dueAt, restMs, attempts, lastError]);
  }

  /** A claim that is gone belongs to another engine: its work here ends, though nothing would be wrong if both went on. */
  async #renew(): Promise<void> {
    if (this.#working.size === 0) return;
    const before = [...this.#working.keys()];
    try {
      const kept = new Set((await run(this.#deps.db.pool, renewClaims, [this.#owner, this.#leaseSeconds])).map(keyOf));
      for (const key of before) if (!kept.has(key)) this.#working.get(key)?.abort.abort();
    } catch (error) {
      this.#deps.log.warn({ err: error }, "claims could not be renewed");
    }
  }
}
