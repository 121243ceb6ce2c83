import { AsyncLocalStorage } from "node:async_hooks";
import { HarrierError } from "@harrier/errors";

export interface TenantLimits {
  /** The expensive requests of one tenant hold at most so many connections. */
  readonly perTenant: number;
  /** Those of all tenants hold at most so many connections: fewer than the pool has, so that point reads and changes find some. */
  readonly total: number;
  /** So many requests of one tenant may wait; one more is refused. */
  readonly waiting: number;
}

/** Of ten connections one tenant gets three, and all together six. A page of a user interface requests some ten lists at the same time. */
export const listLimits: TenantLimits = { perTenant: 3, total: 6, waiting: 50 };

interface Lane {
  running: number;
  /** The number of its last admission; 0 stands for none yet. */
  last: number;
  readonly waiting: (() => void)[];
}

/** The limiter of one request. */
export interface RequestLimiter {
  /** Runs `work` once the tenant is admitted. Rejects with the signal's reason, or with tooManyRequests if too many wait. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Shares a pool's connections among tenants: expensive requests (lists, counts, exports, previews) take a slot for each statement, so that those of
 * one tenant wait behind each other while those of others go on. They run in order within a tenant and round-robin over tenants.
 */
export class TenantLimiter {
  readonly #limits: TenantLimits;
  /** The tenants with running or waiting requests. */
  readonly #lanes = new Map<number, Lane>();
  /** The request whose slot the running code holds. */
  readonly #holder = new AsyncLocalStorage<RequestLimiter>();
  #running = 0;
  #taken = 0;

  constructor(limits: TenantLimits = listLimits) {
    this.#limits = limits;
  }

  /**
   * Makes the limiter of one request: it takes one slot for each statement or transaction, concurrent ones included. A statement within a
   * transaction needs no further slot. A request that was admitted once may wait again however many wait, because an export reads in pieces.
   */
  limiterOf(tenantId: number, signal?: AbortSignal): RequestLimiter {
    let admitted = false;
    const limiter: RequestLimiter = {
      run: async (work) => {
        if (this.#holder.getStore() === limiter) return work();
        if (!admitted && this.#isFull(tenantId)) {
          throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
        }
        admitted = true;
        await this.#enter(tenantId, signal);
        try {
          return await this.#holder.run(limiter, work);
        } finally {
          this.#leave(tenantId);
        }
      },
    };
    return limiter;
  }

  /** Whether one more request of the tenant would have to wait and its queue is full. */
  #isFull(tenantId: number): boolean {
    const lane = this.#lanes.get(tenantId);
    const waiting = lane?.waiting.length ?? 0;
    const hasToWait = waiting > 0 || this.#running >= this.#limits.total || (lane?.running ?? 0) >= this.#limits.perTenant;
    return hasToWait && waiting >= this.#limits.waiting;
  }

  async #enter(tenantId: number, signal: AbortSignal | undefined): Promise<void> {
    const lane = this.#lane(tenantId);
    if (this.#mayRun(lane) && lane.waiting.length === 0) return this.#take(lane);
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        lane.waiting.splice(lane.waiting.indexOf(begin), 1);
        this.#forget(tenantId, lane);
        reject(signal?.reason instanceof HarrierError ? signal.reason : new HarrierError("deadlineExceeded"));
      };
      const begin = (): void => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      lane.waiting.push(begin);
      if (signal?.aborted) giveUp();
      else signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  #lane(tenantId: number): Lane {
    let lane = this.#lanes.get(tenantId);
    if (lane === undefined) {
      lane = { running: 0, last: 0, waiting: [] };
      this.#lanes.set(tenantId, lane);
    }
    return lane;
  }

  #mayRun(lane: Lane): boolean {
    return this.#running < this.#limits.total && lane.running < this.#limits.perTenant;
  }

  #take(lane: Lane): void {
    this.#running += 1;
    lane.running += 1;
    this.#taken += 1;
    lane.last = this.#taken;
  }

  #leave(tenantId: number): void {
    this.#running -= 1;
    const lane = this.#lane(tenantId);
    lane.running -= 1;
    this.#forget(tenantId, lane);
    this.#next();
  }

  /**
   * Gives the slot to the tenant with the fewest running requests, among several to the one admitted longest ago. It is synchronous, so that no
   * newcomer comes between.
   */
  #next(): void {
    let next: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.waiting.length === 0 || !this.#mayRun(lane)) continue;
      if (next === undefined || lane.running < next.running || (lane.running === next.running && lane.last < next.last)) next = lane;
    }
    const begin = next?.waiting.shift();
    if (next === undefined || begin === undefined) return;
    this.#take(next);
    begin();
  }

  #forget(tenantId: number, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(tenantId);
  }
}
