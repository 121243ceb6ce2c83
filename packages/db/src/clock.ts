import type pg from "pg";

/**
 * Milliseconds that this machine's clock is ahead of the database server's; negative where it is behind. One statement; right to half of the
 * time that it takes.
 */
export async function clockAheadMs(pool: pg.Pool): Promise<number> {
  const asked = Date.now();
  const { rows } = await pool.query<{ now: number }>("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  return Math.round((asked + Date.now()) / 2 - (rows[0]?.now ?? Number.NaN));
}
