import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { makeRollout, startFirstGroup, untilRow } from "../lib/rollout-run.ts";
import { seedSet, seedTargets } from "../lib/seed.ts";

const scenario = "database bytes";
const targets = 100_000;
/** These budgets are absolute: the whole database, the system's catalogue included. */
const budgets = { idleMiB: 40, rolloutMiB: 80 };
/** So many of the largest tables and indexes are printed. */
const largest = 12;

/** Measures what the database of 100,000 targets takes, and what a rollout over all of them adds whose groups are scheduled and whose first has started. */
export async function benchBytes(bench: Bench): Promise<void> {
  const client = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl ?? "" });
  await client.connect();
  try {
    await seedTargets(bench.api, "bytes-", targets);
    await addRows(bench, client, { what: `${targets.toLocaleString("en")} targets`, budget: budgets.idleMiB });
    const set = await seedSet(bench.api, "bytes-set");
    const run = await makeRollout(bench, client, { prefix: "bytes-", setId: set.id, targets });
    await startFirstGroup(bench, client, run);
    const scheduled =
      "select where not exists (select from rollout_engine.rollout_groups where tenant_id = 1 and rollout_id = $1 and status = 'ready')";
    await untilRow(client, scheduled, [run.id], 100);
    await addRows(bench, client, { what: "the same with a rollout started", budget: budgets.rolloutMiB });
  } finally {
    await client.end();
  }
}

const sizes = `
  select n.nspname || '.' || c.relname as name, pg_relation_size(c.oid)::float8 / 1048576 as "MiB"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'i', 'm')
   order by pg_relation_size(c.oid) desc limit ${largest}`;

async function addRows({ report }: Bench, client: pg.Client, { what, budget }: { what: string; budget: number }): Promise<void> {
  const whole = await client.query<{ MiB: number }>('select pg_database_size(current_database())::float8 / 1048576 as "MiB"');
  const value = whole.rows[0]?.MiB ?? Number.NaN;
  report.add({ scenario, figure: what, value, unit: "MiB", limit: `budget ${budget} MiB`, ok: value <= budget });
  const { rows } = await client.query<{ name: string; MiB: number }>(sizes);
  for (const row of rows) report.add({ scenario, figure: `  of it ${row.name}`, value: row.MiB, unit: "MiB" });
}
