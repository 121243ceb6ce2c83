import { type TestDatabase, testDatabase, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePartitions } from "./maintenance.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

const outboxPartitions = () =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'rollout_engine.outbox'::regclass order by 1",
    );
    return rows.map((row) => row.name);
  });

const maintain = () => makePartitions(database.db("rollout-engine"), 2);

test("partitions are created ahead, and old ones are dropped once the relay has sent their events", async () => {
  await maintain();
  const fresh = await outboxPartitions();
  expect(fresh).toHaveLength(4); // these are the default, today and two days ahead
  const old = "rollout_engine.outbox_p20200101";
  await withClient(database.adminUrl, async (client) => {
    await client.query(`
      create table ${old} (like rollout_engine.outbox including defaults including constraints);
      alter table ${old} owner to harrier_rollout_engine;
      alter table rollout_engine.outbox attach partition ${old} for values from ('2020-01-01') to ('2020-01-02');
      insert into rollout_engine.outbox (tenant_id, topic, type, common, items, at) values (1, 't', 't', '{}', '[]', '2020-01-01 12:00Z');`);
  });
  await maintain();
  expect(await outboxPartitions()).toContain(old);
  await withClient(database.adminUrl, (client) => client.query("update rollout_engine.outbox_cursor set sent = pg_current_snapshot()"));
  await maintain();
  expect(await outboxPartitions()).toEqual(fresh);
});
