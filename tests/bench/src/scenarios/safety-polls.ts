import type pg from "pg";
import { writeLastPolls } from "../../../../apps/controller/src/poll/last-polls.sql.ts";
import type { Bench } from "../lib/context.ts";
import { load } from "../lib/load.ts";
import { seedFleet, targetTokenHeader } from "../lib/seed.ts";
import { median, medianRatio, pairs } from "../lib/statistics.ts";

/** What watches may cost those that poll, and what stores that they have. */
const bounds = { poll: 1.02, stamps: 1.15 };
const watches = 1_000_000;
const wanting = 100_000;
const pollers = 1_000;
const pollsPerRound = 4_000;
const rounds = 7;
/** Each fills the table anew. */
const pollRounds = 5;
/** So many last polls are written at once. */
const batch = 10_000;
/** This is above every id that services assign. */
const firstId = 1_600_400_000;
const prefix = "watched-poll-";

/** Measures polls beside a million watches, and the writing of last polls beside a hundred thousand watches that count polls. */
export async function addPolls(bench: Bench, client: pg.Client): Promise<void> {
  await seedFleet(client, { prefix, count: wanting + batch, firstId });
  await client.query("delete from action_watches");
  const p50 = async (): Promise<number> => {
    const next = (i: number) => {
      const id = `${prefix}${String(i % pollers).padStart(6, "0")}`;
      return { path: `/DEFAULT/controller/v1/${id}`, headers: { authorization: targetTokenHeader(id) } };
    };
    const result = await load({ url: bench.stack.baseUrl, connections: 4, requests: pollsPerRound, expect: 200, next });
    if (result.bad > 0) throw new Error(`${result.bad} polls were not answered 200`);
    return result.p50Ms;
  };
  /** What filling and emptying the table leaves to do is done first, and every connection has planned anew. */
  const settled = async (): Promise<number> => {
    await client.query("vacuum analyze action_watches");
    await client.query("checkpoint");
    await p50();
    return await p50();
  };
  await p50(); // signs all in
  const { a: beside, b: alone } = await pairs(
    pollRounds,
    async () => {
      await insertWatches(client, { count: watches, wanting: false });
      return await settled();
    },
    async () => {
      await client.query("truncate action_watches");
      return await settled();
    },
  );
  const value = medianRatio(beside, alone);
  const limit = `budget ${bounds.poll}×; ${median(alone).toFixed(2)} ms without`;
  const figure = `median of a poll beside ${watches.toLocaleString("en")} watches`;
  bench.report.add({ scenario: "safety", figure, value, unit: "×", limit, ok: value <= bounds.poll });
  await addStamps(bench, client);
}

/** Watches of actions that are not there, which are never due; those that want polls belong to one target each. */
async function insertWatches(client: pg.Client, { count, wanting: wants }: { count: number; wanting: boolean }): Promise<void> {
  await client.query(
    `insert into action_watches (tenant_id, action_id, target_id, policy_id, stage, wants_polls, polls_wanted, claimed_at, counts_from, due_at)
     select 1, 9000000000000 + n, $2::int + n % $3::int, 1, case when $4 then 5 else 3 end, $4, case when $4 then 100 else 0 end, now(),
            now() - interval '1 hour', now() + interval '1 day' from generate_series(0, $1::int - 1) n`,
    [count, firstId, wanting, wants],
  );
  await client.query("analyze action_watches");
}

/** The statement that stores last polls, for targets of which no poll is awaited: without any watch, and while others' polls are. */
async function addStamps(bench: Bench, client: pg.Client): Promise<void> {
  const flush = async (first: number): Promise<number> => {
    const targets = Array.from({ length: batch }, (_, n) => first + n);
    const now = Date.now();
    const from = performance.now();
    await client.query(writeLastPolls.text, [targets.map(() => 1), targets, targets.map(() => now)]);
    return performance.now() - from;
  };
  const others = firstId + wanting;
  for (let n = 0; n < 3; n += 1) await flush(others);
  const { a, b } = await pairs(
    rounds,
    async () => {
      await insertWatches(client, { count: wanting, wanting: true });
      return await flush(others);
    },
    async () => {
      await client.query("delete from action_watches");
      await client.query("vacuum analyze action_watches");
      return await flush(others);
    },
  );
  await insertWatches(client, { count: wanting, wanting: true });
  const own = await flush(firstId);
  await client.query("delete from action_watches");
  const value = medianRatio(a, b);
  const limit = `budget ${bounds.stamps}×; ${median(b).toFixed(0)} ms without; if each of them counts for a watch ${own.toFixed(0)} ms`;
  const figure = `writing ${batch.toLocaleString("en")} last polls while ${wanting.toLocaleString("en")} others count`;
  bench.report.add({ scenario: "safety", figure, value, unit: "×", limit, ok: value <= bounds.stamps });
}
