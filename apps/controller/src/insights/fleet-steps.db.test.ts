import { withClient } from "@harrier/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture } from "../device.fixture.ts";
import { countFleets } from "./insights.sql.ts";

// What a step of a walk reads, whatever the database knows of the tables: a fleet that has just been made is walked before they were analyzed.

const targets = 12_000;
const step = 5_000;
const tables = "targets, target_state, target_polls";

let fixture: DeviceFixture;
type Query = (text: string) => Promise<{ rows: Record<string, unknown>[] }>;
beforeEach(async () => {
  fixture = await deviceFixture();
  await asAdmin(async (query) => {
    for (const table of tables.split(", ")) await query(`alter table ${table} set (autovacuum_enabled = false)`);
    await query("insert into fleet_walks (tenant_id) values (1)");
  });
});
afterEach(() => fixture?.close());

/** Keys are not checked: that would take minutes where nothing is known of the tables. */
const asAdmin = (work: (query: Query) => Promise<unknown>) =>
  withClient(fixture.database.adminUrl, async (client) => {
    await client.query("set search_path = controller");
    await client.query("set session_replication_role = replica");
    await work((text) => client.query(text));
  });

async function addTargets(query: Query, from: number, to: number): Promise<void> {
  const ids = `generate_series(${from}, ${to}) i`;
  await query(`insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
               select 1, i, 'f' || i, 'f', '', '', nullif(i % 3, 0), 'x', 'x' from ${ids}`);
  await query(`insert into target_state (tenant_id, target_id, update_status, installed_set_id, assigned_set_id)
               select 1, i, i % 5, 100 + i % 4, 100 + i % 7 from ${ids}`);
  await query(`insert into target_polls (tenant_id, target_id, last_poll_at) select 1, i, now() - interval '1 hour' from ${ids}`);
}

const histories: Readonly<Record<string, (query: Query) => Promise<unknown>>> = {
  "were never analyzed": (query) => addTargets(query, 1, targets),
  "were analyzed while they were empty": async (query) => {
    await query(`analyze ${tables}`);
    await addTargets(query, 1, targets);
  },
  "were analyzed when the fleet was small": async (query) => {
    await addTargets(query, 1, 10);
    await query(`analyze ${tables}`);
    await addTargets(query, 11, targets);
  },
  "were analyzed before their rows were committed": async (query) => {
    await query("begin");
    await addTargets(query, 1, targets);
    await asAdmin((other) => other(`analyze ${tables}`));
    await query("commit");
  },
  "are known": async (query) => {
    await addTargets(query, 1, targets);
    await query(`analyze ${tables}`);
  },
};

/** Walks the fleet once, and answers the pages of the database that each step has read. */
async function pagesOfSteps(): Promise<number[]> {
  const pages: number[] = [];
  const { pool } = fixture.db;
  for (let done = false; !done; ) {
    await pool.query("update fleet_walks set due_at = now()");
    const { rows } = await pool.query(`explain (analyze, buffers, format json) ${countFleets.text}`, [[1], [new Date()], step]);
    const { Plan: plan } = rows[0]["QUERY PLAN"][0];
    pages.push(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
    done = (await pool.query("select from fleet_walks where cursor_id = -1")).rowCount === 1;
  }
  return pages;
}

/** A page of a table has several targets; keys that are looked up one by one are two pages or more for each target, and in each table. */
test.each(Object.entries(histories))(
  "management 10.6 a step of a walk reads the targets of its page once where tables %s",
  async (_, make) => {
    await asAdmin(make);
    const pages = await pagesOfSteps();
    expect(pages).toHaveLength(3);
    expect(Math.max(...pages)).toBeLessThan(step / 2);
    expect((await fixture.db.pool.query("select sum(n)::int as n from fleet_counts where kind = 0")).rows).toEqual([{ n: targets }]);
  },
  120_000,
);
