import pg from "pg";
import { median } from "../lib/statistics.ts";

const repetitions = 5;

/** Seconds for writing the rows of a finished step once more, raw, into copies of the same tables with the same indexes. */
export interface RawRows {
  ready(rolloutId: number): Promise<number>;
  firstGroup(rolloutId: number, groupId: number): Promise<number>;
  close(): Promise<void>;
}

export async function openRawRows(adminUrl: string): Promise<RawRows> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const time = (copies: readonly Copy[], values: number[]) => timeAll(client, copies, values);
  return {
    ready: (rolloutId) =>
      time(
        [
          copy("rollout_engine.group_members", "rollout_id = $1"),
          copy("rollout_engine.rollouts", "id = $1"),
          copy("rollout_engine.rollout_groups", "rollout_id = $1"),
        ],
        [rolloutId],
      ),
    firstGroup: (rolloutId, groupId) =>
      time(
        [
          copy("controller.actions", "rollout_id = $1 and group_id = $2"),
          copy(
            "controller.action_history",
            "(tenant_id, action_id) in (select tenant_id, id from controller.actions where rollout_id = $1 and group_id = $2)",
          ),
          copy(
            "controller.target_state",
            "(tenant_id, target_id) in (select tenant_id, target_id from controller.actions where rollout_id = $1 and group_id = $2)",
          ),
          copy("controller.group_deltas", "rollout_id = $1 and group_id = $2"),
          copy("controller.outbox", "(common->>'rolloutId')::bigint = $1 and (common->>'rolloutGroupId')::bigint = $2"),
        ],
        [rolloutId, groupId],
      ),
    close: () => client.end(),
  };
}

interface Copy {
  table: string;
  where: string;
}

const copy = (table: string, where: string): Copy => ({ table, where });

async function timeAll(client: pg.Client, copies: readonly Copy[], values: number[]): Promise<number> {
  let seconds = 0;
  for (const { table, where } of copies) {
    const used = values.slice(0, where.includes("$2") ? 2 : 1);
    const times: number[] = [];
    for (let i = 0; i < repetitions; i++) times.push(await timeOne(client, { table, where }, used));
    seconds += median(times);
  }
  return seconds;
}

/** The rows are gathered first, so that only the writing is timed; the copy of a partitioned table is one plain table. */
async function timeOne(client: pg.Client, { table, where }: Copy, values: number[]): Promise<number> {
  await client.query("drop table if exists raw_rows, raw_copy");
  await client.query(`create temp table raw_rows as select * from ${table} limit 0`);
  await client.query(`insert into raw_rows select * from ${table} where ${where}`, values);
  // not temporary: temporary tables write no log, and the log is part of the price
  await client.query(`create table raw_copy (like ${table} including all)`);
  const columns = await writableColumns(client, table);
  const from = performance.now();
  await client.query(`insert into raw_copy (${columns}) overriding system value select ${columns} from raw_rows`);
  return (performance.now() - from) / 1_000;
}

async function writableColumns(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ list: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as list from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows[0]?.list ?? "";
}
