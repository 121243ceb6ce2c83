import { runOne } from "@harrier/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandsFixture, commandsFixture, contextOf } from "../commands.fixture.ts";
import { deltasFoldedUntil, eventsSentUntil } from "./maintenance.sql.ts";
import { makePartitions } from "./maintenance.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const partitions = async (table: string): Promise<string[]> => {
  const { rows } = await fixture.db.pool.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1",
    [table],
  );
  return rows.map((row) => row.name);
};

test("partitions exist before they are needed, and rows that were written before are found in them", async () => {
  await fixture.targets.createTargets({ targets: [{ controllerId: "early", name: "early" }] }, contextOf({}, "early"));
  await makePartitions(fixture.database.db("controller"), 2);
  expect(await partitions("action_history")).toHaveLength(4);
  for (const table of ["group_deltas", "outbox", "commands", "credential_changes"]) expect(await partitions(table), table).toHaveLength(4);
  const { rows } = await fixture.db.pool.query("select tableoid::regclass::text as partition from outbox");
  expect(rows).toEqual([{ partition: expect.stringMatching(/^outbox_p\d{8}$/) }]);
  // The answer of a command is found in whatever partition it is.
  expect(
    (await fixture.targets.createTargets({ targets: [{ controllerId: "early", name: "early" }] }, contextOf({}, "early"))).targets,
  ).toHaveLength(1);
});

test("events and deltas stay beyond their time until the relay and the fold have processed them", async () => {
  const { pool } = fixture.database.db("controller");
  const old = new Date(Date.now() - 10 * 86_400_000);
  const until = new Date(Date.now() - 5 * 86_400_000);
  await pool.query("insert into group_deltas (tenant_id, rollout_id, group_id, to_bucket, n, at) values (1, 1, 1, 0, 1, $1)", [old]);
  await pool.query("insert into outbox (tenant_id, topic, type, common, items, at) values (1, 't', 't', '{}', '[]', $1)", [old]);
  expect(await runOne(pool, deltasFoldedUntil, [until])).toEqual({ folded: false });
  expect(await runOne(pool, eventsSentUntil, [until])).toEqual({ sent: false });
  await pool.query("update group_progress_folded set txid = pg_current_xact_id(), id = 1000000");
  await pool.query("update outbox_cursor set sent = pg_current_snapshot()");
  expect(await runOne(pool, deltasFoldedUntil, [until])).toEqual({ folded: true });
  expect(await runOne(pool, eventsSentUntil, [until])).toEqual({ sent: true });
});
