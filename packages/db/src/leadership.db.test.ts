import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../tests/setup/fresh-database.ts";
import { createDatabase, type Database } from "./database.ts";
import { withLeadership } from "./leadership.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let a: Database;
let b: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  a = createDatabase({ url: fresh.url, applicationName: "a" });
  b = createDatabase({ url: fresh.url, applicationName: "b" });
});
afterAll(async () => {
  await Promise.all([a.close(), b.close()]);
  await fresh.drop();
});

async function until(condition: () => boolean): Promise<void> {
  const limit = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error("it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const aborted = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

/** Starts a candidate that only records when it leads. */
function candidate(db: Database, key: string, name: string, leaders: string[], fences: number[]) {
  const stop = new AbortController();
  const done = withLeadership({
    session: db.session,
    key,
    signal: stop.signal,
    retryMs: 50,
    onError: () => undefined,
    async lead(signal, fence) {
      leaders.push(name);
      fences.push(fence);
      if (!signal.aborted) await aborted(signal);
      leaders.splice(leaders.indexOf(name), 1);
    },
  });
  return { stop: () => stop.abort(), done };
}

test("one candidate leads at a time, the next one follows, and the fence grows", async () => {
  const leaders: string[] = [];
  const fences: number[] = [];
  const first = candidate(a, "tick", "a", leaders, fences);
  await until(() => leaders.length === 1);
  const second = candidate(b, "tick", "b", leaders, fences);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(leaders).toEqual(["a"]);
  first.stop();
  await first.done;
  await until(() => leaders.length === 1);
  expect(leaders).toEqual(["b"]);
  second.stop();
  await second.done;
  expect(fences[1]).toBeGreaterThan(fences[0] ?? 0);
  const { rows } = await a.pool.query(
    "select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
  );
  expect(rows).toEqual([]);
});

test("a leader that loses its connection is told at once, and another one takes over", async () => {
  const leaders: string[] = [];
  const first = candidate(a, "relay", "a", leaders, []);
  await until(() => leaders.length === 1);
  const second = candidate(b, "relay", "b", leaders, []);
  await b.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'a/session' and datname = current_database()",
  );
  await until(() => leaders.includes("a") || leaders.includes("b"));
  first.stop();
  second.stop();
  await Promise.all([first.done, second.done]);
  expect(leaders).toEqual([]);
});

test("different keys do not compete", async () => {
  const leaders: string[] = [];
  const both = [candidate(a, "x", "x", leaders, []), candidate(a, "y", "y", leaders, [])];
  await until(() => leaders.length === 2);
  for (const one of both) one.stop();
  await Promise.all(both.map(({ done }) => done));
});

test("an error of the work ends the leadership; with onError the candidate retries, without it the promise rejects", async () => {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const trying = withLeadership({
    session: a.session,
    key: "bad",
    signal: stop.signal,
    retryMs: 10,
    onError: (error) => errors.push(error),
    lead: () => Promise.reject(new Error("no luck")),
  });
  await until(() => errors.length >= 3);
  stop.abort();
  await trying;
  const rejecting = withLeadership({
    session: b.session,
    key: "bad",
    signal: new AbortController().signal,
    lead: () => Promise.reject(new Error("no luck")),
  });
  await expect(rejecting).rejects.toThrow("no luck");
});
