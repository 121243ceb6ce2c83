import { HarrierError } from "@harrier/errors";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { backgroundOf, createDatabase, type Database } from "./database.ts";
import { IdBlocks } from "./id-blocks.ts";
import { apart, countRoundTrips, type RequestScope } from "./request-scope.ts";
import { migrate } from "./schema/index.ts";
import { inTransaction, run, statement } from "./statement.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
let watcher: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = createDatabase({ url: fresh.url, applicationName: "limits", max: 2, limits: { statementMs: 20_000 } });
  watcher = createDatabase({ url: fresh.url, applicationName: "watcher", max: 2 });
  await watcher.pool.query("create table things (id bigint primary key, name text not null)");
  await watcher.pool.query("create table id_counters (tenant_id bigint, kind text, next_id bigint, primary key (tenant_id, kind))");
});
afterEach(async () => {
  await watcher.pool.query("truncate things");
});
afterAll(async () => {
  await Promise.all([db.close(), watcher.close()]);
  await fresh.drop();
});

const napFor = statement<[seconds: number], { one: number }>("nap", "select 1 as one from pg_sleep($1)");
const insertThing = statement<[id: number], never>("insert_thing", "insert into things values ($1, 'x')");
const one = statement<[], { one: number }>("one", "select 1 as one");
const gone = new HarrierError("unavailable", "The client has gone.");

/** Answers what the server executes for us now, without idle connections. */
async function executed(): Promise<string[]> {
  const { rows } = await watcher.pool.query<{ query: string }>(
    "select query from pg_stat_activity where application_name like 'limits%' and state = 'active'",
  );
  return rows.map(({ query }) => query);
}
const untilExecuted = (n: number) => vi.waitFor(async () => expect(await executed()).toHaveLength(n), { timeout: 5_000, interval: 20 });

function request(): { scope: RequestScope; abort: AbortController } {
  const abort = new AbortController();
  return { scope: { roundTrips: 0, signal: abort.signal }, abort };
}

test("the statement of a request that is over is cancelled at the server, and its connection is not reused", async () => {
  const { scope, abort } = request();
  const answer = countRoundTrips(scope, () => run(db.pool, napFor, [15])).catch((error: unknown) => error);
  await untilExecuted(1);
  abort.abort(gone);
  expect(await answer).toBe(gone);
  await untilExecuted(0);
  expect(db.pool.totalCount).toBe(0);
  expect(await run(db.pool, one, [])).toEqual([{ one: 1 }]);
});

test("a dozen requests abandoned together leave no statement behind", async () => {
  const requests = Array.from({ length: 12 }, request);
  const answers = requests.map(({ scope }) => countRoundTrips(scope, () => run(db.pool, napFor, [15])).catch((error: unknown) => error));
  await untilExecuted(2);
  for (const { abort } of requests) abort.abort(gone);
  expect(await Promise.all(answers)).toEqual(requests.map(() => gone));
  await untilExecuted(0);
  expect(await run(db.pool, one, [])).toEqual([{ one: 1 }]);
});

test("an abandoned request stops waiting for a connection, and a later one gets it", async () => {
  const [held, other] = await Promise.all([db.pool.connect(), db.pool.connect()]);
  const { scope, abort } = request();
  const waiting = countRoundTrips(scope, () => run(db.pool, insertThing, [1])).catch((error: unknown) => error);
  const later = run(db.pool, one, []);
  abort.abort(gone);
  expect(await waiting).toBe(gone);
  held.release();
  expect(await later).toEqual([{ one: 1 }]);
  other.release();
  const { rows } = await db.pool.query("select from things");
  expect(rows).toEqual([]);
});

test("the transaction of a request that is over is rolled back, not committed", async () => {
  const { scope, abort } = request();
  const work = inTransaction.bind(undefined, db.pool, async (tx) => {
    await run(tx, insertThing, [7]);
    abort.abort(gone);
  });
  await expect(countRoundTrips(scope, work)).rejects.toBe(gone);
  expect((await db.pool.query("select from things")).rows).toEqual([]);
});

test("a signal without an error of ours means that the deadline has passed", async () => {
  const { scope, abort } = request();
  abort.abort();
  await expect(countRoundTrips(scope, () => run(db.pool, one, []))).rejects.toMatchObject({ code: "deadlineExceeded" });
});

test("shared work does not end with the request that began it, and is counted for that request", async () => {
  const { scope, abort } = request();
  const shared = countRoundTrips(scope, () => apart(() => run(db.pool, napFor, [0.3])));
  abort.abort(gone);
  expect(await shared).toEqual([{ one: 1 }]);
  expect(scope.roundTrips).toBe(1);
  const ids = new IdBlocks(db.pool);
  const second = request();
  const [first, other] = [countRoundTrips(second.scope, () => ids.next(1, "x")), ids.next(1, "x")];
  second.abort.abort(gone);
  expect(await Promise.all([first, other])).toEqual([11, 12]);
});

test("the database's own timeout gives 503 with Retry-After, never an unknown error", async () => {
  const limits = { statementMs: 200, lockMs: 100, idleInTransactionMs: 200 };
  const short = createDatabase({ url: fresh.url, applicationName: "limits", max: 2, limits });
  const busy = { code: "unavailable", headers: { "retry-after": "2" } };
  await expect(run(short.pool, napFor, [5])).rejects.toMatchObject(busy);
  await watcher.pool.query("insert into things values (1, 'x')");
  await inTransaction(watcher.pool, async (tx) => {
    await tx.query("update things set name = 'y' where id = 1");
    const rename = statement<[], never>("rename", "update things set name = 'z' where id = 1");
    await expect(run(short.pool, rename, [])).rejects.toMatchObject({ ...busy, cause: { code: "55P03" } });
  });
  const silent = inTransaction(short.pool, async (tx) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await run(tx, one, []);
  });
  await expect(silent).rejects.toMatchObject({ code: "unavailable" });
  // work that no request waits for has limits of its own
  expect(await run(backgroundOf(short).pool, napFor, [0.4])).toEqual([{ one: 1 }]);
  await short.close();
});

test("a transaction that waits for something besides the database has the timeout of its service, whatever the role", async () => {
  const idleOf = statement<[], { idle: string }>("idle_of", "select current_setting('idle_in_transaction_session_timeout') as idle");
  const limits = { lockMs: 100 };
  const short = createDatabase({ url: fresh.url, applicationName: "idle", limits, commandsMax: 1, idleInTransactionMs: 300 });
  const usual = createDatabase({ url: fresh.url, applicationName: "idle", commandsMax: 1 });
  const idle = (db: Database) =>
    Promise.all([db.pool, db.background, db.commands].map(async (pool) => (await run(pool, idleOf, []))[0]?.idle));
  expect(await idle(short)).toEqual(["300ms", "300ms", "300ms"]);
  expect(await idle(usual)).toEqual(["1min", "1min", "1min"]);
  expect((await run(short.signIn, idleOf, []))[0]).toEqual({ idle: "1min" });
  await Promise.all([short.close(), usual.close()]);
});

test("each kind of work has connections of its own", async () => {
  const held = await Promise.all([db.pool.connect(), db.pool.connect()]);
  for (const pool of [db.signIn, db.background]) expect(await run(pool, one, [])).toEqual([{ one: 1 }]);
  expect(db.commands).toBe(db.pool);
  for (const client of held) client.release();
});

test("migrations are not subject to the limits of requests", async () => {
  const short = createDatabase({ url: fresh.url, applicationName: "limits", limits: { statementMs: 100, lockMs: 100 } });
  const { mkdir, mkdtemp, writeFile, rm } = await import("node:fs/promises");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const dir = await mkdtemp(join(tmpdir(), "harrier-migrations-"));
  await mkdir(join(dir, "migrations"));
  await writeFile(join(dir, "migrations", "0001_nap.sql"), "-- expand\nselect pg_sleep(0.4);\n");
  expect(await migrate({ pool: short.pool, schema: "public", folder: dir })).toEqual(["0001_nap.sql"]);
  await rm(dir, { recursive: true });
  await short.close();
});
