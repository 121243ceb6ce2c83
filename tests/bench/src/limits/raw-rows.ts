import pg from "pg";
import { median } from "../lib/statistics.ts";

/** Each time is the median of this many repetitions; a million rows take long enough to need no median. */
const repetitions = (rows: number): number => (rows > 200_000 ? 1 : 5);

/** Measures the seconds for writing the rows of a finished step once more, raw, into copies of the same tables with the same indexes. */
export interface RawRows {
  ready(rolloutId: number): Promise<number>;
  firstGroup(rolloutId: number, groupId: number): Promise<number>;
  /** Writes once all that a rollout has written; returns the CPU seconds of the database, in whatever process. */
  wholeCpu(rolloutId: number, cpu: () => number): Promise<number>;
  close(): Promise<void>;
}

export async function openRawRows(adminUrl: string): Promise<RawRows> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const time = async (copies: readonly Copy[], values: number[]) => {
    let seconds = 0;
    for (const each of copies) seconds += (await timeCopy(client, each, values, repetitions)).seconds;
    return seconds;
  };
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
    async wholeCpu(rolloutId, cpu) {
      let seconds = 0;
      for (const each of whole) seconds += (await timeCopy(client, each, [rolloutId], () => 1, cpu)).cpuSeconds;
      return seconds;
    },
    close: () => client.end(),
  };
}

interface Copy {
  table: string;
  where: string;
}

const copy = (table: string, where: string): Copy => ({ table, where });

/** Updated rows count as written twice: the second version is what an update leaves. */
const whole: readonly Copy[] = [
  copy("rollout_engine.group_members", "rollout_id = $1"),
  copy("rollout_engine.rollouts", "id = $1"),
  copy("rollout_engine.rollout_groups", "rollout_id = $1"),
  copy("controller.actions", "rollout_id = $1"),
  copy("controller.actions", "rollout_id = $1 and revision > 1"),
  copy("controller.action_history", "(tenant_id, action_id) in (select tenant_id, id from controller.actions where rollout_id = $1)"),
  copy(
    "controller.target_state",
    "(tenant_id, target_id) in (select tenant_id, target_id from controller.actions where rollout_id = $1 and revision > 1)",
  ),
  copy("controller.group_deltas", "rollout_id = $1"),
  copy("controller.outbox", "(common->>'rolloutId')::bigint = $1"),
];

interface Timed {
  seconds: number;
  cpuSeconds: number;
}

/** The rows are gathered first, so that only the writing is timed; the copy of a partitioned table is one plain table. */
async function timeCopy(
  client: pg.Client,
  { table, where }: Copy,
  given: number[],
  times: (rows: number) => number,
  cpu: () => number = () => 0,
): Promise<Timed> {
  await client.query("drop table if exists raw_rows");
  await client.query(`create temp table raw_rows as select * from ${table} limit 0`);
  const values = given.slice(0, where.includes("$2") ? 2 : 1);
  const { rowCount } = await client.query(`insert into raw_rows select * from ${table} where ${where}`, values);
  const columns = await writableColumns(client, table);
  const taken: Timed[] = [];
  for (let i = 0; i < times(rowCount ?? 0); i++) {
    // The copy is not temporary: temporary tables write no log, and the log is part of the cost.
    await client.query(`drop table if exists raw_copy; create table raw_copy (like ${table} including all)`);
    const [from, cpuFrom] = [performance.now(), cpu()];
    await client.query(`insert into raw_copy (${columns}) overriding system value select ${columns} from raw_rows`);
    taken.push({ seconds: (performance.now() - from) / 1_000, cpuSeconds: cpu() - cpuFrom });
  }
  return { seconds: median(taken.map(({ seconds }) => seconds)), cpuSeconds: median(taken.map(({ cpuSeconds }) => cpuSeconds)) };
}

async function writableColumns(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ list: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as list from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows[0]?.list ?? "";
}
