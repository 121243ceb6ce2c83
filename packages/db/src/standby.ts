import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { isConnectionError } from "./connection-error.ts";

/** What is asked of a request here (`RequestScope`). */
interface Reading {
  readonly signal?: AbortSignal | undefined;
  readonly readsOnly?: boolean | undefined;
}

/** Where the readings of a request run, and why not on the standby. */
export type ReadFrom = "standby" | "behind" | "unreachable" | "refused";

export interface StandbyOptions {
  /** Connections to the primary, for the question of how far it is. */
  readonly primary: pg.Pool;
  readonly standby: pg.Pool;
  /** It is told of each request whose readings could run on the standby. */
  readonly onRead?: ((from: ReadFrom) => void) | undefined;
}

/** A list waits so many milliseconds for the standby to be where the primary is; then the primary reads it. */
const catchUpMs = 100;
/** A standby that does not answer for so many milliseconds beyond that is taken for unreachable. */
const answerMs = 250;
/** After it was behind or away, no request asks the standby for this time, in milliseconds. */
const avoidMs = 1_000;
const firstPauseMs = 2;
const longestPauseMs = 16;

/** A commit is answered once it is flushed; what is written without that (how often devices poll) is nobody's own change. */
const written = {
  name: "db.written_position",
  text: `select pg_wal_lsn_diff(
    case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end,
    '0/0')::text as position`,
};
/** A server that is no standby (any more) has its own history, so it has no position. */
const replayed = {
  name: "db.replayed_position",
  text: "select case when pg_is_in_recovery() then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text end as position",
};

/**
 * The standby of a primary, for readings that may run there: a request is sent to it only once it has replayed everything that the primary had
 * committed when the request began. So nobody, at whichever replica, reads less there than at the primary, their own changes above all.
 */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #written: () => Promise<bigint>;
  readonly #replayed: () => Promise<bigint>;
  readonly #chosen = new WeakMap<Reading, Promise<pg.Pool>>();
  #avoidUntil = 0;
  #reason: ReadFrom = "behind";

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#written = together(() => positionOf(options.primary, written));
    this.#replayed = together(() => positionOf(options.standby, replayed));
  }

  /** Answers the pool for the readings of this request; it is asked once for each request. */
  poolFor(scope: Reading): Promise<pg.Pool> {
    let chosen = this.#chosen.get(scope);
    if (chosen === undefined) {
      chosen = this.#choose();
      this.#chosen.set(scope, chosen);
    }
    return chosen;
  }

  /** Whether a reading that failed on the standby is to be repeated on the primary, where the rest of its request runs then, too. */
  gaveUp(scope: Reading, pool: pg.Pool, error: unknown): boolean {
    if (pool !== this.#options.standby || scope.signal?.aborted) return false;
    const away = isConnectionError(error);
    if (!away && !refusals.has(String((error as { code?: unknown }).code))) return false;
    if (away) this.#avoid("unreachable");
    this.#options.onRead?.(away ? "unreachable" : "refused");
    this.#chosen.set(scope, Promise.resolve(this.#options.primary));
    return true;
  }

  async #choose(): Promise<pg.Pool> {
    const { primary, standby, onRead } = this.#options;
    if (performance.now() < this.#avoidUntil) {
      onRead?.(this.#reason);
      return primary;
    }
    const found = await Promise.race([this.#catchUp(), sleep(catchUpMs + answerMs, "unreachable" as const, { ref: false })]);
    if (found !== "standby") this.#avoid(found);
    onRead?.(found);
    return found === "standby" ? standby : primary;
  }

  async #catchUp(): Promise<ReadFrom> {
    try {
      const wanted = await this.#written();
      const end = performance.now() + catchUpMs;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        if ((await this.#replayed()) >= wanted) return "standby";
        if (performance.now() >= end) return "behind";
        await sleep(pauseMs);
      }
    } catch {
      return "unreachable";
    }
  }

  #avoid(reason: ReadFrom): void {
    this.#reason = reason;
    this.#avoidUntil = performance.now() + avoidMs;
  }
}

/** A standby refuses what writes, and cancels readings of rows that the primary has removed meanwhile. */
const refusals: ReadonlySet<string> = new Set(["25006", "40001"]);

async function positionOf(pool: pg.Pool, query: pg.QueryConfig): Promise<bigint> {
  const { rows } = await pool.query<{ position: string | null }>(query);
  // no position is behind every other one
  return BigInt(rows[0]?.position ?? -1);
}

/** Has all that ask at the same time share one question, which begins after each of them asked. */
function together<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        const asked = ask();
        running = asked;
        return asked;
      });
    return next;
  };
}

const standbys = new WeakMap<pg.Pool, Standby>();

/** Lets a standby read what requests read in `pool`. */
export function readFromStandby(pool: pg.Pool, standby: Standby): void {
  standbys.set(pool, standby);
}

/** Answers the standby on which a statement of this request may run instead of `pool`. */
export function standbyOf(pool: object, scope: Reading | undefined): Standby | undefined {
  return scope?.readsOnly === true ? standbys.get(pool as pg.Pool) : undefined;
}
