import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bench, openBench } from "../testing.suite.ts";
import { findDeviceDownload } from "./download.sql.ts";

const count = 30_000;
let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench?.dispose());

/** Fills the tables as when a rollout has just begun: with tens of thousands of actions of one set, and without statistics. */
async function fill(): Promise<void> {
  const { sql } = bench;
  const by = "'admin', 'admin'";
  await sql("insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 11) on conflict do nothing");
  await sql(
    `insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 900, 'x', 'X', ${by})`,
  );
  await sql(`insert into management.software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
             values (1, 900, 'x', 'X', 1, ${by})`);
  await sql(
    `insert into management.software_modules (tenant_id, id, type_id, name, version, created_by, last_modified_by) values (1, 21, 900, 'm', '1', ${by})`,
  );
  await sql(
    `insert into management.distribution_sets (tenant_id, id, type_id, name, version, created_by, last_modified_by) values (1, 21, 900, 's', '1', ${by})`,
  );
  await sql("insert into management.set_modules (tenant_id, set_id, module_id, position) values (1, 21, 21, 1)");
  await sql(`insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
             select 1, id, 'd' || id, 'd' || id, '', '', ${by} from generate_series(1, ${count}) as id`);
  await sql(`insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by, last_modified_by)
             select 1, id, id, 'd' || id, 21, 3, true, 1, 'admin', ${by} from generate_series(1, ${count}) as id`);
  await sql(`insert into controller.target_state (tenant_id, target_id) select 1, id from generate_series(1, ${count}) as id`);
}

it.each([false, true])("a download reads a handful of pages in tables that were just filled (analyzed: %s)", async (analyzed) => {
  if (analyzed) await bench.sql("analyze");
  else await fill();
  const client = await bench.db.pool.connect();
  try {
    // a prepared statement ends up with this plan
    await client.query("set plan_cache_mode = force_generic_plan");
    await client.query(`prepare download (int, text, bigint, text) as ${findDeviceDownload.text}`);
    const { rows } = await client.query<{ "QUERY PLAN": string }>("explain (analyze, buffers) execute download(1, 'd777', 21, 'fw.bin')");
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).not.toMatch(/Seq Scan on (targets|actions|target_state)/);
    const [, hit = "0", , read = "0"] = /Buffers: shared hit=(\d+)( read=(\d+))?/.exec(plan) ?? [];
    expect(Number(hit) + Number(read)).toBeLessThan(80);
  } finally {
    client.release(true);
  }
});
