import { runOne } from "@harrier/db";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type CommandsFixture, commandsFixture } from "../commands.fixture.ts";
import { coarsenProgress, sweepRollouts } from "../maintenance/maintenance.sql.ts";
import { foldDeltas } from "./fold.sql.ts";

let fixture: CommandsFixture;
beforeAll(async () => {
  fixture = await commandsFixture();
});
afterAll(() => fixture.close());
beforeEach(() => fixture.db.pool.query("delete from rollout_progress; delete from rollout_failures"));

const rows = async (sql: string) => (await fixture.db.pool.query(sql)).rows;
/** Folds all deltas; as long as an older transaction runs, of whichever test, some of them wait. */
const fold = () =>
  vi.waitFor(async () => {
    await runOne(fixture.db.pool, foldDeltas, [10_000]);
    expect(await rows("select from group_deltas d, group_progress_folded f where (d.txid, d.id) > (f.txid, f.id)")).toEqual([]);
  }, 30_000);
const series = (rolloutId: number) =>
  rows(`select minute, bucket, n::int from rollout_progress where rollout_id = ${rolloutId} order by minute, bucket`);
const coarsen = (limit = 10_000) => runOne(fixture.db.pool, coarsenProgress, [limit]);

test("deltas are added to the minute in which they came, those of all groups together, and agree with the sum", async () => {
  await fixture.db.pool.query(
    `insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n, at)
     select 1, 900, d.g, d.f, d.t, d.n, date_trunc('minute', now()) - d.ago * interval '1 minute'
       from (values (1, null, 0, 10, 3), (2, null, 0, 5, 3), (1, 0, 1, 4, 2), (2, 0, 1, 1, 2), (1, 1, 2, 3, 0)) d (g, f, t, n, ago)`,
  );
  await fold();
  const found = await series(900);
  const [first] = found;
  expect(found.map(({ minute, bucket, n }) => [minute - first.minute, bucket, n])).toEqual([
    [0, 0, 15],
    [1, 0, -5],
    [1, 1, 5],
    [3, 1, -3],
    [3, 2, 3],
  ]);
  const sums = await rows("select bucket, sum(n)::int as n from rollout_progress where rollout_id = 900 group by 1 order by 1");
  expect(sums).toEqual(await rows("select bucket, sum(n)::int as n from group_progress where rollout_id = 900 group by 1 order by 1"));
  await fold();
  expect(await series(900)).toEqual(found);
});

test("a series becomes coarser as it ages, without loss, and its length stays bounded", async () => {
  await fixture.db.pool.query(
    `insert into rollout_progress (tenant_id, rollout_id, minute, bucket, n)
     select 1, 901, floor(extract(epoch from now()) / 60)::int - m, 2, 1 from generate_series(0, 60 * 24 * 60, 7) m`,
  );
  const before = (await rows("select sum(n)::int as n from rollout_progress where rollout_id = 901"))[0].n;
  while (Number((await coarsen(3_000))?.coarsened) > 0);
  const now = Math.floor(Date.now() / 60_000);
  const found = await series(901);
  expect(found.reduce((sum, { n }) => sum + n, 0)).toBe(before);
  const [day, month] = [now - 1_440 - 60, now - 43_200 - 1_440];
  expect(found.filter(({ minute }) => minute < day && minute % 60 !== 0)).toEqual([]);
  expect(found.filter(({ minute }) => minute < month && minute % 1_440 !== 0)).toEqual([]);
  // a day of minutes that have changes, a month of hours, and days
  expect(found.length).toBeLessThan(1_440 / 7 + 60 + 31 * 24 + 31 + 10);
  expect(await coarsen()).toEqual({ coarsened: 0 });
});

test("what is left of rollouts that are gone is swept, a piece at a time", async () => {
  // the view of rollouts is empty: none of these exists
  await fixture.db.pool.query(
    `insert into rollout_progress (tenant_id, rollout_id, minute, bucket, n) select 1, r, m, 0, 1 from generate_series(1, 3) r, generate_series(1, 4) m;
     insert into rollout_failures (tenant_id, rollout_id, key, group_id, type_id, n, first_at, last_at, sample)
     select 1, r, gen_random_uuid(), 1, 0, 1, now(), now(), '{}' from generate_series(1, 3) r`,
  );
  expect(await runOne(fixture.db.pool, sweepRollouts, [5])).toEqual({ swept: 8 });
  expect(await runOne(fixture.db.pool, sweepRollouts, [100])).toEqual({ swept: 7 });
  expect(await runOne(fixture.db.pool, sweepRollouts, [100])).toEqual({ swept: 0 });
});
