import { backOff } from "./back-off.ts";
import { Loop } from "./loop.ts";
import type { JobLog, Observer } from "./observer.ts";
import { Outage } from "./outage.ts";
import { within } from "./pause.ts";

/** Every claim tells how often in a row the work on it has failed. */
export interface Claimed {
  readonly attempts: number;
}

export interface LeaseOptions {
  /** So much time passes between two polls when nobody wakes the worker. */
  readonly pollMs: number;
  /** A claim outlives its process by so long. */
  readonly leaseSeconds: number;
  /** So many claims are worked on at the same time; one tenant has all but one of them at most. */
  readonly slots: number;
  readonly log: Pick<JobLog, "warn">;
  readonly observer?: Observer | undefined;
}

/** These functions find the work under leases and do it. */
export interface LeaseWork<Claim extends Claimed> {
  /** Notices what has changed elsewhere, once per poll and before anything is claimed. */
  readonly notice?: () => Promise<unknown>;
  /** Takes what is due and free. */
  readonly claim: (free: number, perTenant: number) => Promise<readonly Claim[]>;
  /** Works on a claim and releases it. The signal aborts when the worker stops or the claim is lost. */
  readonly work: (claim: Claim, signal: AbortSignal) => Promise<unknown>;
  /** Releases a claim after a failure. Where even this fails the claim ends by itself. */
  readonly failed: (claim: Claim, failure: { attempts: number; cooldownMs: number; error: unknown }) => Promise<unknown>;
  /** Claims are renewed four times in the time of a lease while they are worked on; `renew` answers the keys of those that are kept. */
  readonly renewal?: {
    readonly renew: () => Promise<readonly string[]>;
    readonly keyOf: (claim: Claim) => string;
    readonly failure: string;
  };
  /** These messages are logged when nothing can be claimed, and when the work on a claim fails. */
  readonly failures: { readonly claim: string; readonly work: string };
}

/** At a first start the views of others may not exist yet, so a failure is logged only when it lasts. */
const graceMs = 10_000;
/** Work that takes longer is not waited for; its claim expires. */
const stopLimitMs = 5_000;
const retries = { firstMs: 250, maxMs: 15_000 };

/** Polls for what is due, claims it by lease and works on several claims at a time; any number of processes do so side by side. */
export class Leases<Claim extends Claimed> {
  readonly #work: LeaseWork<Claim>;
  readonly #options: LeaseOptions;
  readonly #underWay = new Map<Claim, { lost: AbortController; done: Promise<void> }>();
  readonly #loop: Loop;
  #outage: Outage | undefined;
  #polledAt = Number.NEGATIVE_INFINITY;
  #renewing: NodeJS.Timeout | undefined;

  constructor(work: LeaseWork<Claim>, options: LeaseOptions) {
    this.#work = work;
    this.#options = options;
    this.#loop = new Loop({
      round: () => this.#round(),
      everyMs: () => Math.max(0, this.#polledAt + options.pollMs - performance.now()),
    });
  }

  start(): void {
    const { renewal, failures } = this.#work;
    const { log, leaseSeconds } = this.#options;
    this.#outage = new Outage({ failed: (err) => log.warn({ err }, failures.claim), graceMs });
    if (renewal !== undefined) this.#renewing = setInterval(() => void this.#renew(renewal), (leaseSeconds * 1_000) / 4);
    void this.#loop.start();
  }

  /** Claims at once, because there is something due. */
  readonly wake = (): void => this.#loop.wake();

  /** Ends with the running parts and releases their claims, so that others need not wait for them. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop().then(() => Promise.all([...this.#underWay.values()].map(({ done }) => done)));
    await within(ended, stopLimitMs);
    clearInterval(this.#renewing);
  }

  async #round(): Promise<void> {
    const { pollMs, observer } = this.#options;
    try {
      // whoever wakes has noticed what changed, or has changed it; this is for what a wake-up could have missed
      if (performance.now() - this.#polledAt >= pollMs) {
        this.#polledAt = performance.now();
        await this.#work.notice?.();
      }
      await this.#claim();
      this.#outage?.succeeded();
      observer?.ran();
    } catch (error) {
      this.#outage?.failed(error);
      observer?.failed();
    }
  }

  async #claim(): Promise<void> {
    const { slots } = this.#options;
    const free = slots - this.#underWay.size;
    if (free <= 0) return;
    for (const claim of await this.#work.claim(free, Math.max(1, slots - 1))) {
      const lost = new AbortController();
      const done = this.#workOn(claim, AbortSignal.any([lost.signal, this.#loop.stopping])).finally(() => {
        this.#underWay.delete(claim);
        this.wake();
      });
      this.#underWay.set(claim, { lost, done });
    }
  }

  async #workOn(claim: Claim, signal: AbortSignal): Promise<void> {
    const { observer, log } = this.#options;
    const work = () => this.#work.work(claim, signal);
    try {
      await (observer === undefined ? work() : observer.round(work));
    } catch (error) {
      const attempts = claim.attempts + 1;
      const cooldownMs = backOff(attempts, retries);
      log.warn({ err: error, ...claim, attempts, cooldownMs }, this.#work.failures.work);
      await this.#work.failed(claim, { attempts, cooldownMs, error }).catch(() => {});
    }
  }

  /** Aborts the work on lost claims, which belong to another process now; it would be harmless if both went on. */
  async #renew({ renew, keyOf, failure }: NonNullable<LeaseWork<Claim>["renewal"]>): Promise<void> {
    if (this.#underWay.size === 0) return;
    const before = [...this.#underWay];
    try {
      const kept = new Set(await renew());
      for (const [claim, { lost }] of before) if (!kept.has(keyOf(claim))) lost.abort();
    } catch (err) {
      this.#options.log.warn({ err }, failure);
    }
  }
}
