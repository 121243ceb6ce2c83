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
  #running = 0;
  #taken = 0;

  constructor(limits: TenantLimits = listLimits) {
    this.#limits = limits;
  }

  /** The turns of one request. Within its turn it needs no other: what it does beside or inside shares the one that it has. */
  turnsOf(tenantId: number, signal?: AbortSignal): TenantTurns {
    let inside = 0;
    let admitted = false;
    /** The turn that all of this moment share: statements side by side wait for the same one. */
    let turn: Promise<void> | undefined;
    return {
      run: async (work) => {
        inside += 1;
        turn ??= this.#enter(tenantId, signal, admitted);
        const mine = turn;
        let entered = false;
        try {
          await mine;
          entered = true;
          admitted = true;
          return await work();
        } finally {
          inside -= 1;
          if (inside === 0) turn = undefined;
          if (inside === 0 && entered) this.#leave(tenantId);
        }
      },
    };
  }

  /** `admitted`: has had a turn before, and may come back however many wait (an export reads in pieces). */
  async #enter(tenantId: number, signal: AbortSignal | undefined, admitted: boolean): Promise<void> {
    const lane = this.#lane(tenantId);
    if (this.#mayRun(lane) && lane.waiting.length === 0) return this.#take(lane);
    if (!admitted && lane.waiting.length >= this.#limits.waiting) {
      throw new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "1" } });
    }
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
