import type pg from "pg";
import { type NeededView, unreadable } from "./schema/needs.ts";

/** What a service asks the database for its readiness. */
export interface DatabaseState {
  /** Answers the needed views that cannot be read now, as `schema.view`. */
  missingViews(): Promise<string[]>;
  /** Answers how many milliseconds this machine's clock is ahead of the server's, measured at the middle of the round trip. */
  clockAheadMs(): Promise<number>;
}

interface Answer {
  readonly missing: string[];
  readonly aheadMs: number;
}

/** Asks everything of one moment in one round trip: who asks while an answer is awaited gets the same one. A probe comes twice a second at most. */
export function createDatabaseState(pool: pg.Pool, needs: readonly NeededView[]): DatabaseState {
  let asked: Promise<Answer> | undefined;
  const ask = (): Promise<Answer> => {
    asked ??= readState(pool, needs).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  return {
    missingViews: async () => (await ask()).missing,
    clockAheadMs: async () => (await ask()).aheadMs,
  };
}

async function readState(pool: pg.Pool, needs: readonly NeededView[]): Promise<Answer> {
  const requested = Date.now();
  const { rows } = await pool.query<{ now: number; missing: string[] }>({
    name: "db.state",
    text: `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now, array(${unreadable}) as missing`,
    values: [needs.map((need) => need.schema), needs.map((need) => need.view)],
  });
  const { now = Number.NaN, missing = [] } = rows[0] ?? {};
  return { missing, aheadMs: Math.round((requested + Date.now()) / 2 - now) };
}
