import type pg from "pg";

/**
 * Answers how many milliseconds this machine's clock is ahead of the database server's; negative if it is behind. It takes one statement and is
 * accurate to half of its duration.
 */
export async function clockAheadMs(pool: pg.Pool): Promise<number> {
  const requested = Date.now();
  const { rows } = await pool.query<{ now: number }>("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  return Math.round((requested + Date.now()) / 2 - (rows[0]?.now ?? Number.NaN));
}
