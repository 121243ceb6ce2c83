import { runOne } from "@harrier/db";
import { createJob } from "@harrier/jobs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type CommandsFixture, commandsFixture, progressOf } from "../commands.fixture.ts";
import { jobs } from "../jobs.ts";
import { foldDeltas } from "./fold.sql.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());

const log = { warn: (fields: object) => expect.unreachable(JSON.stringify(fields)) };
const fold = (limit = 10_000) => runOne(fixture.db.pool, foldDeltas, [limit]);

interface Client {
  query(text: string, values?: unknown[]): Promise<unknown>;
}
const delta = (client: Client, rolloutId: number, from: number | null, to: number | null, n: number) =>
  client.query("insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n) values (1, $1, 1, $2, $3, $4)", [
    rolloutId,
    from,
    to,
    n,
  ]);

const unfolded = async () =>
  (await fixture.db.pool.query("select from group_deltas d, group_progress_folded f where (d.txid, d.id) > (f.txid, f.id)")).rows.length;

/** Folds until nothing is left: other databases of this server may have older transactions open for a moment. */
async function foldAll(): Promise<void> {
  const step = async () => {
    await fold();
    return (await unfolded()) === 0;
  };
  await vi.waitUntil(step, { timeout: 20_000 });
}

test("progress is the same before, between and after folding", async () => {
  const { pool } = fixture.database.db("controller");
  await delta(pool, 1, null, 0, 10);
  await delta(pool, 1, 0, 1, 6);
  await delta(pool, 1, 1, 2, 3);
  await delta(pool, 1, 1, 3, 1);
  await delta(pool, 1, 1, 4, 1);
  await delta(pool, 1, 0, null, 1);
  const right = [3, 1, 3, 1, 1];
  expect(await progressOf(fixture, 1)).toEqual(right);
  await vi.waitUntil(async () => (await fold(2))?.folded === 2, { timeout: 20_000 });
  expect(await progressOf(fixture, 1)).toEqual(right);
  await foldAll();
  expect(await progressOf(fixture, 1)).toEqual(right);
  expect(await fold()).toEqual({ folded: 0 });
  await delta(pool, 1, 1, 2, 1);
  expect(await progressOf(fixture, 1)).toEqual([3, 0, 4, 1, 1]);
});

test("a delta that commits late is not lost: the watermark waits for it", async () => {
  const { pool } = fixture.database.db("controller");
  const slow = await pool.connect();
  await slow.query("begin");
  await delta(slow, 2, null, 0, 5);
  await delta(pool, 2, null, 0, 7);
  await fold();
  expect(await unfolded()).toBeGreaterThan(0);
  expect(await progressOf(fixture, 2)).toEqual([7, 0, 0, 0, 0]);
  await slow.query("commit");
  slow.release();
  expect(await progressOf(fixture, 2)).toEqual([12, 0, 0, 0, 0]);
  await foldAll();
  expect(await progressOf(fixture, 2)).toEqual([12, 0, 0, 0, 0]);
});

test("progress is exact at every moment, while writers write and two folders fold", async () => {
  const folders = [1, 2].map(() =>
    createJob(jobs["progress-fold"], { background: fixture.database.db("controller") }, { log, everyMs: 5 }),
  );
  for (const folder of folders) void folder.start();
  const { pool } = fixture.database.db("controller");
  await delta(pool, 3, null, 0, 1_000);
  let writing = true;
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let n = 0; n < 60; n += 1) {
      const tx = await pool.connect();
      await tx.query("begin");
      await delta(tx, 3, 0, 1, 1);
      if ((n + writer) % 3 === 0) await tx.query("select pg_sleep(0.002)");
      await delta(tx, 3, 1, 2, 1);
      await tx.query("commit");
      tx.release();
    }
  });
  const reader = (async () => {
    let seen = 0;
    let least = 0;
    while (writing) {
      const [scheduled = 0, running, finished = 0] = await progressOf(fixture, 3);
      // Each transaction starts an action and ends it: no reader ever sees one running, lost or counted twice.
      expect(running).toBe(0);
      expect(scheduled + finished).toBe(1_000);
      expect(finished).toBeGreaterThanOrEqual(least);
      least = finished;
      seen += 1;
    }
    return seen;
  })();
  await Promise.all(writers);
  writing = false;
  expect(await reader).toBeGreaterThan(10);
  expect(await progressOf(fixture, 3)).toEqual([640, 0, 360, 0, 0]);
  await Promise.all(folders.map((folder) => folder.stop()));
  await foldAll();
  expect(await progressOf(fixture, 3)).toEqual([640, 0, 360, 0, 0]);
});

test("a read of a rollout's progress reads the deltas that are not folded yet, not all of them", async () => {
  const { pool } = fixture.database.db("controller");
  await pool.query(
    `insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
     select 1, 4 + g % 2, 1, 0, 1, 1 from generate_series(1, 50000) g`,
  );
  await foldAll();
  await delta(pool, 4, null, 0, 1);
  const { rows } = await pool.query(
    "explain (analyze, buffers, format json) select * from group_progress_v1 where tenant_id = 1 and rollout_id = 4",
  );
  const plan = rows[0]["QUERY PLAN"][0].Plan;
  expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]).toBeLessThan(60);
  expect(await progressOf(fixture, 4)).toEqual([-25_000 + 1, 25_000, 0, 0, 0]);
});
