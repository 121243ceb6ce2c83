import { run } from "@harrier/db";
import { withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  actionsOfRollout,
  type CommandsFixture,
  chunkOf,
  commandsFixture,
  contextOf,
  itemOf,
  reservedSet,
  runGroup,
  seedMembers,
  setSetting,
} from "../commands.fixture.ts";
import { refreshStatistics } from "../maintenance/maintenance.sql.ts";

// The tables have just been filled, with the statistics that autovacuum leaves when it looks at a table whose first rows are not yet committed: pages
// without rows. Every index that begins with the tenant then seems equally good, and a chunk of 20 ms takes ten minutes. The tests check rows read,
// not time.

const size = 100_000;
let fixture: CommandsFixture;

beforeAll(async () => {
  fixture = await commandsFixture();
  const { pool } = fixture.database.db("controller");
  const tables = ["targets", "target_state", "auto_confirmations", "actions"];
  for (const table of tables) await pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
  // Sessions and their plans exist already, made for empty tables.
  await fixture.targets.createTargets({ targets: [{ controllerId: "first", name: "first" }] }, contextOf());
  await seedMembers(fixture, { rolloutId: 9, groupId: 1 }, [11]);
  for (let n = 1; n <= 6; n += 1) await runGroup(fixture, chunkOf(9));
  await pool.query(
    `insert into targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
     select 1, 1000000 + g, 'd' || g, 'd' || g, '', '', 'admin', 'admin' from generate_series(1, ${size}) g`,
  );
  await pool.query(`insert into target_state (tenant_id, target_id) select 1, 1000000 + g from generate_series(1, ${size}) g`);
  await pool.query(
    `insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by,
                          last_modified_by)
     select 1, 5000000 + g, 1000000 + g, 'd' || g, 102, 3, true, 1, 'admin', 'admin', 'admin' from generate_series(1, ${size}) g`,
  );
  await fixture.database.db("rollout-engine").pool.query(
    `insert into group_members (tenant_id, rollout_id, group_id, ordinal, target_id)
     select 1, 1, 1, g - 1, 1000000 + g from generate_series(1, ${size}) g`,
  );
  await fixture.actions.openFence({ rolloutId: 1, epoch: 1 }, contextOf());
}, 120_000);
afterAll(() => fixture.close());

/** Counts the rows that the sessions of `fixture.db` fetched or scanned during `work`, which began with useless statistics. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  await withClient(fixture.database.adminUrl, async (admin) => {
    await admin.query("set allow_system_table_mods = on");
    await admin.query(
      `update pg_class set reltuples = 0, relpages = greatest(1, pg_relation_size(oid) / 8192)
        where relnamespace in ('controller'::regnamespace, 'rollout_engine'::regnamespace) and relkind in ('r', 'i')
          and relname ~ '^(targets|target_state|auto_confirmations|actions|group_members)'`,
    );
  });
  const before = await readCounters();
  await work();
  return (await readCounters()) - before;
}

async function readCounters(): Promise<number> {
  // A session reports its reads at any time, even later, as if they belonged to what is measured.
  for (const pool of [fixture.db.pool, ...(["controller", "rollout-engine"] as const).map((name) => fixture.database.db(name).pool)])
    await eachSession(pool, "select pg_stat_force_next_flush()");
  const { rows } = await fixture.database.db("controller").pool.query(
    `select (select sum(seq_tup_read) from pg_stat_user_tables where schemaname in ('controller', 'rollout_engine'))
          + (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname in ('controller', 'rollout_engine')) as n`,
  );
  return Number(rows[0].n);
}

async function eachSession(pool: typeof fixture.db.pool, sql: string): Promise<void> {
  const sessions = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const session of sessions) await session.query(sql);
  for (const session of sessions) session.release();
}

test("a chunk that schedules reads its own rows by key", async () => {
  let created = 0;
  const read = await rowsRead(async () => {
    created = Number((await fixture.actions.scheduleChunk(chunkOf(1), contextOf())).created);
  });
  expect(created).toBe(4_000);
  expect(read).toBeLessThan(created * 10);
});

test("a chunk that starts, and supersedes as many, reads its own rows by key", async () => {
  let started = 0;
  const read = await rowsRead(async () => {
    started = Number((await fixture.actions.startChunk(chunkOf(1), contextOf())).started);
  });
  expect(started).toBe(3_000);
  expect(read).toBeLessThan(started * 20);
  expect((await actionsOfRollout(fixture, 1)).filter((a) => a.active)).toHaveLength(3_000);
});

test("an assignment of 5,000 reads its own rows by key", async () => {
  const items = Array.from({ length: 5_000 }, (_, n) => itemOf(`d${50_000 + n}`));
  let made = 0;
  const read = await rowsRead(async () => {
    const { actions = [] } = await fixture.actions.assignSet({ set: reservedSet(101), items, initiator: "admin" }, contextOf());
    made = actions.length;
  });
  expect(made).toBe(5_000);
  expect(read).toBeLessThan(made * 20);
});

test("with confirmations an assignment reads its own rows by key, however many targets have auto-confirmation", async () => {
  await setSetting(fixture, "user.confirmation.flow.enabled", true);
  await fixture.database.db("controller").pool.query(
    `insert into auto_confirmations (tenant_id, target_id, created_by)
     select 1, 1000000 + g, 'admin' from generate_series(1, ${size}) g where g % 2 = 0`,
  );
  const [cursor = 0] = (await actionsOfRollout(fixture, 1))
    .filter((a) => a.active)
    .map((a) => a.targetId)
    .toSorted((a, b) => b - a);
  let started = 0;
  const chunk = await rowsRead(async () => {
    started = Number((await fixture.actions.startChunk(chunkOf(1, { cursor }), contextOf())).started);
  });
  expect(started).toBe(1_000);
  expect(chunk).toBeLessThan(started * 20);
  const items = Array.from({ length: 5_000 }, (_, n) => itemOf(`d${60_000 + n}`));
  const assigned = await rowsRead(() => fixture.actions.assignSet({ set: reservedSet(101), items, initiator: "admin" }, contextOf()));
  expect(assigned).toBeLessThan(5_000 * 20);
  const { rows } = await fixture.db.pool.query("select count(*) as n from actions where status = 11");
  expect(rows).toEqual([{ n: 3_000 }]);
  await setSetting(fixture, "user.confirmation.flow.enabled", undefined);
}, 60_000);

test("with multi-assignment, which counts open actions, an assignment reads its own rows by key", async () => {
  await setSetting(fixture, "multi.assignments.enabled", true);
  const sets = [reservedSet(100), reservedSet(101)];
  const items = Array.from({ length: 5_000 }, (_, n) => itemOf(`d${80_000 + Math.floor(n / 2)}`, { setIndex: n % 2 }));
  const assigned = await rowsRead(() => fixture.actions.assignSets({ sets, items, initiator: "admin" }, contextOf()));
  expect(assigned).toBeLessThan(5_000 * 20);
  await fixture.actions.scheduleChunk(chunkOf(1, { cursor: 4_000 }), contextOf());
  const actions = await actionsOfRollout(fixture, 1);
  const scheduled = actions.filter((a) => a.status === 8).length;
  expect(scheduled).toBeGreaterThan(1_000);
  // The size of a chunk follows the speed of the machine, so all chunks are taken: each scheduled action is started by one of them.
  let cursor = Math.max(...actions.filter((a) => a.status !== 8).map((a) => a.targetId));
  let started = 0;
  const read = await rowsRead(async () => {
    for (let done = false; !done; ) {
      const chunk = await fixture.actions.startChunk(chunkOf(1, { cursor }), contextOf());
      started += Number(chunk.started);
      cursor = Number(chunk.cursor);
      done = chunk.done === true;
    }
  });
  expect(started).toBe(scheduled);
  expect(read).toBeLessThan(started * 20);
  await setSetting(fixture, "multi.assignments.enabled", undefined);
}, 60_000);

test("records of 200 downloads and the creation of 1,000 targets read their own rows by key", async () => {
  const at = Date.now();
  const downloads = Array.from({ length: 200 }, (_, n) => ({ tenantId: 1, actionId: 5_080_000 + n, path: "/f", at }));
  expect(await rowsRead(() => fixture.actions.noteDownloads({ downloads }, contextOf()))).toBeLessThan(200 * 20);
  const targets = Array.from({ length: 1_000 }, (_, n) => ({ controllerId: `new${n}`, name: "n" }));
  expect(await rowsRead(() => fixture.targets.createTargets({ targets }, contextOf()))).toBeLessThan(1_000 * 10);
});

test("changes that come one at a time profit from the maintenance of every few seconds", async () => {
  const cancel = { controllerId: "d90000", actionId: 5_090_000, force: false };
  const read = await rowsRead(async () => {
    await run(fixture.db.pool, refreshStatistics, []);
    await fixture.actions.cancelAction(cancel, contextOf());
  });
  expect(read).toBeLessThan(100);
});

test("a deletion of 1,000 targets reads their own rows by key", async () => {
  const controllerIds = Array.from({ length: 1_000 }, (_, n) => `d${70_000 + n}`);
  let deleted = 0;
  const read = await rowsRead(async () => {
    deleted = Number((await fixture.targets.deleteTargets({ controllerIds, ifRevisions: [] }, contextOf())).deleted);
  });
  expect(deleted).toBe(1_000);
  expect(read).toBeLessThan(deleted * 40);
});
