import { AsyncLocalStorage } from "node:async_hooks";
import { HarrierError } from "@harrier/errors";

export interface TenantLimits {
  /** Connections that the expensive requests of one tenant hold at once. */
  readonly perTenant: number;
  /** Connections that those of all tenants hold at once: less than the pool has, so that point reads and changes find some. */
  readonly total: number;
  /** Requests of one tenant that may wait for their turn; one more is refused. */
  readonly waiting: number;
}

/** Of ten connections: one tenant three, all together six. A page of a user interface asks for some ten lists at once. */
export const listLimits: TenantLimits = { perTenant: 3, total: 6, waiting: 50 };

interface Lane {
  running: number;
  /** Number of its last turn; 0: none yet. */
  last: number;
  readonly waiting: (() => void)[];
}

/** One request's claim to turns. */
export interface TenantTurns {
  /** Runs `work` when the tenant's turn has come. Rejects as the signal says, or with tooManyRequests where too many wait. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Shares a pool's connections among tenants: what is expensive (lists, counts, exports, previews) takes a turn for each statement, so that
 * one tenant's wait behind each other while those of others go on. In order within a tenant; tenants take turns.
 */
export class TenantLimiter {
  readonly #limits: TenantLimits;
  /** Tenants with something running or waiting. */
  readonly #lanes = new Map<number, Lane>();
  /** Whose turn the code that runs is within. */
  readonly #holder = new AsyncLocalStorage<TenantTurns>();
  #running = 0;
  #taken = 0;

  constructor(limits: TenantLimits = listLimits) {
    this.#limits = limits;
  }

  /**
   * The turns of one request: one for each statement or transaction, those side by side among them. What runs within a transaction needs no
   * other. A request that has once been let in may come back however many wait: an export reads in pieces.
   */
  turnsOf(tenantId: number, signal?: AbortSignal): TenantTurns {
    let admitted = false;
    const turns: TenantTurns = {
      run: async (work) => {
        if (this.#holder.getStore() === turns) return work();
        if (!admitted && this.#isFull(tenantId)) {
          throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
        }
        admitted = true;
        await this.#enter(tenantId, signal);
        try {
          return await this.#holder.run(turns, work);
        } finally {
          this.#leave(tenantId);
        }
      },
    };
    return turns;
  }

  /** True where one more of the tenant would have to wait, and as many as may wait do. */
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

  /** Gives the place to the tenant with the fewest turns, of several to that whose last one is longest ago; at once, so that nobody comes between. */
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
