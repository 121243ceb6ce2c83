import { readFileSync } from "node:fs";
import { type Database, run, runOne } from "@harrier/db";
import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeviceFixture, deviceFixture } from "../device.fixture.ts";
import { foldMonthlyCounts } from "./insights.sql.ts";
import { countDueFleets } from "./insights.ts";

// What insights cost where a million devices report: the work is in the background, so it is its share of the database that counts.

const targets = 1_000_000;
let fixture: DeviceFixture;
beforeAll(async () => {
  fixture = await deviceFixture();
  await withClient(fixture.database.adminUrl, async (admin) => {
    // Neither keys nor triggers are what is measured here.
    await admin.query("set session_replication_role = replica");
    await admin.query("set search_path = controller");
    await admin.query(
      `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, target_type_id, created_by, last_modified_by)
       select 1, i, 'f' || i, 'f', '', '', nullif(i % 3, 0), 'x', 'x' from generate_series(1, ${targets}) i`,
    );
    await admin.query(
      `insert into target_state (tenant_id, target_id, update_status, installed_set_id, assigned_set_id)
       select 1, i, i % 5, 100 + i % 200, 100 + i % 300 from generate_series(1, ${targets}) i`,
    );
    await admin.query(
      `insert into target_polls (tenant_id, target_id, last_poll_at)
       select 1, i, now() - interval '1 second' * (i % 1000) from generate_series(1, ${targets}) i`,
    );
    await admin.query("vacuum analyze targets, target_state, target_polls");
  });
}, 900_000);
afterAll(() => fixture?.close());

/** The processor time of one connection's process is what others lose, however busy the machine is; without /proc it is the time that passes. */
async function measured(work: (pool: Database["pool"]) => Promise<void>): Promise<number> {
  const client = await fixture.db.pool.connect();
  try {
    const { pid } = (await client.query("select pg_backend_pid() as pid")).rows[0];
    const ticks = (): number | undefined => {
      try {
        const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
        return (
          rest
            .split(" ")
            .slice(11, 13)
            .map(Number)
            .reduce((a, b) => a + b, 0) * 10
        );
      } catch {
        return undefined;
      }
    };
    const [began, before] = [performance.now(), ticks()];
    await work(client as never);
    const after = ticks();
    return before === undefined || after === undefined ? performance.now() - began : after - before;
  } finally {
    client.release();
  }
}

test("management 10.6 a walk over a million targets takes some seconds of work", async () => {
  const { pool } = fixture.db;
  await pool.query("insert into fleet_walks (tenant_id) values (1)");
  let steps = 0;
  const ms = await measured(async (own) => {
    for (let done = false; !done; steps++) {
      await own.query("update fleet_walks set due_at = now()");
      await countDueFleets({ background: { pool: own }, now: Date.now });
      done = (await own.query("select from fleet_walks where cursor_id = -1")).rowCount === 1;
    }
  });
  console.info(`${steps} steps, ${ms} ms`);
  expect(ms).toBeLessThan(5_000);
  expect((await pool.query("select sum(n)::int as n from fleet_counts where kind = 0")).rows).toEqual([{ n: targets }]);
}, 120_000);

test("management 10.6 folding a report takes some microseconds", async () => {
  const { pool } = fixture.db;
  const reports = 100_000;
  // Of four reports of a device one ends its action.
  await pool.query(
    `insert into outbox (tenant_id, topic, type, common, items)
     select 1, 'action-events', 'io.update.action.status_changed.v1', '{"tenant":"DEFAULT","distributionSet":{"id":100,"name":"n","version":"1"}}',
            json_build_array(json_build_array(i, 'f' || i, 3, 3, case i % 4 when 0 then 0 else 3 end, i % 4 <> 0, 1, 1000, null,
              array['Download 47 % of image.swu', 'still going'], 1700000000000, 3))
       from generate_series(1, ${reports}) i`,
  );
  await run(pool, foldMonthlyCounts, [1]);
  let folded = 0;
  const ms = await measured(async (own) => {
    while (folded < reports - 1) folded += (await runOne(own, foldMonthlyCounts, [2_000]))?.folded ?? 0;
  });
  const perReport = (ms / folded) * 1_000;
  console.info(`${perReport.toFixed(1)} µs for a report`);
  expect(perReport).toBeLessThan(10);
}, 120_000);
