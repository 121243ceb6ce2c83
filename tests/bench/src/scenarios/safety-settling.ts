import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { untilRow } from "../lib/rollout-run.ts";
import { type SeededSet, seedFleet } from "../lib/seed.ts";
import { median, medianRatio, pairs } from "../lib/statistics.ts";

/** What a policy may cost, beside the same without one. */
const bounds = { start: 1.5, startedPerSecond: 15_000, rowBytes: 120, settledPerSecond: 5_000, retriedPerSecond: 1_000, lateSeconds: 3 };
const limited = { proof: {}, limits: { notFetchedSeconds: 3_600, count: "none" }, retry: { max: 1, delaySeconds: 3_600 } };
const inGroup = 20_000;
const trickle = 500;
const retries = 1_000;
/** This is above every id that services assign. */
const firstId = 1_600_100_000;

/** Starts groups with a policy and without, then settles the watches of those that have one. */
export async function addStartAndSettle(bench: Bench, client: pg.Client, set: SeededSet): Promise<void> {
  const perSecond = { plain: [] as number[], watched: [] as number[] };
  const rollouts: number[] = [];
  const start = async (round: number, watched: boolean): Promise<void> => {
    const prefix = `start-${watched ? "watched" : "plain"}-${round}-`;
    await seedFleet(client, { prefix, count: inGroup, firstId: firstId + (2 * round + Number(watched)) * inGroup });
    const { id } = await bench.api.post<{ id: number }>("/rollouts", {
      name: prefix,
      targetFilterQuery: `controllerid==${prefix}*`,
      distributionSetId: set.id,
      amountGroups: 1,
      ...(watched ? { safety: limited } : {}),
    });
    await untilRow(client, "select from rollout_engine.rollouts where tenant_id = 1 and id = $1 and status = 'ready'", [id]);
    await bench.api.post(`/rollouts/${id}/start`, {});
    const started = "select from actions where tenant_id = 1 and rollout_id = $1 and status = 3 having count(*) = $2";
    await untilRow(client, started, [id, inGroup], 100);
    // All of a chunk has the time of its transaction's begin, so the last chunk is no part of the measure.
    const { rows } = await client.query<{ rate: number }>(
      `with at as (select last_modified_at as t, max(last_modified_at) over () as last from actions where tenant_id = 1 and rollout_id = $1)
       select (count(*) filter (where t < last) / extract(epoch from max(t) - min(t)))::float8 as rate from at`,
      [id],
    );
    perSecond[watched ? "watched" : "plain"].push(rows[0]?.rate ?? Number.NaN);
    if (watched) rollouts.push(id);
  };
  await start(0, false); // warms up
  perSecond.plain.length = 0;
  await pairs(
    2,
    (round) => start(round + 1, false),
    (round) => start(round + 1, true),
  );
  const value = medianRatio(perSecond.plain, perSecond.watched);
  const rate = median(perSecond.watched);
  bench.report.add({
    scenario: "safety",
    figure: "starting a chunk with a policy",
    value,
    unit: "×",
    limit: `budget ${bounds.start}×`,
    ok: value <= bounds.start,
  });
  bench.report.add({
    scenario: "safety",
    figure: "actions that start with a policy",
    value: rate,
    unit: "/s",
    limit: `budget ${bounds.startedPerSecond} /s; without ${Math.round(median(perSecond.plain))}`,
    ok: rate >= bounds.startedPerSecond,
  });
  const [first = 0, second = 0] = rollouts;
  await addRows(bench, client);
  await addPunctuality(bench, client, first);
  await addSettling(bench, client, { rolloutId: first, second });
}

/** The largest row that there is: of a claim whose evidence has come. Those of other stages are smaller, and none is left when the watch has ended. */
async function addRows(bench: Bench, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ row: number; all: number }>(
    `select (avg(pg_column_size(w)) filter (where w.stage = 5) + 4)::float8 as row,
            pg_total_relation_size('action_watches')::float8 / count(*) as all from action_watches w`,
  );
  const { row = Number.NaN, all = Number.NaN } = rows[0] ?? {};
  const limit = `budget ${bounds.rowBytes} B; of all, with free space and indexes, ${Math.round(all)} B`;
  bench.report.add({ scenario: "safety", figure: "the row of a claim", value: row, unit: "B", limit, ok: row <= bounds.rowBytes });
}

const noneDue = "select from action_watches where tenant_id = 1 and due_at <= now() having count(*) = 0";

/** Lets the time of so many watches of a rollout be over in so many seconds. */
async function due(client: pg.Client, rolloutId: number, { count, inSeconds }: { count: number; inSeconds: number }): Promise<void> {
  await client.query(
    `update action_watches w set since = w.since - interval '2 hours', claimed_at = w.claimed_at - interval '2 hours',
            due_at = now() + make_interval(secs => $3)
       from (select a.id from actions a join action_watches x on x.tenant_id = 1 and x.action_id = a.id and not x.silent and x.due_at is not null
              where a.tenant_id = 1 and a.rollout_id = $1 order by a.target_id limit $2) i
      where w.tenant_id = 1 and w.action_id = i.id`,
    [rolloutId, count, inSeconds],
  );
}

async function addPunctuality(bench: Bench, client: pg.Client, rolloutId: number): Promise<void> {
  await due(client, rolloutId, { count: trickle, inSeconds: 2 });
  const at = (await client.query<{ at: Date }>("select min(due_at) as at from action_watches where tenant_id = 1")).rows[0]?.at;
  await sleep(2_000);
  await untilRow(client, noneDue, [], 100);
  const late = await client.query<{ late: number }>(
    `select extract(epoch from max(h.occurred_at) - $2)::float8 as late from action_history h join actions a on a.tenant_id = 1 and a.id = h.action_id
      where h.tenant_id = 1 and a.rollout_id = $1 and a.tally = 3`,
    [rolloutId, at],
  );
  const value = late.rows[0]?.late ?? Number.NaN;
  const figure = `${trickle} that are due at once: the last is settled after`;
  const limit = `budget ${bounds.lateSeconds} s`;
  bench.report.add({ scenario: "safety", figure, value, unit: "s", limit, ok: value <= bounds.lateSeconds });
}

/** Settles as many as there are of each kind: devices that fall silent, claims that nobody proves, and attempts that begin. */
async function addSettling(bench: Bench, client: pg.Client, { rolloutId, second }: { rolloutId: number; second: number }): Promise<void> {
  const settle = async (what: string, of: { rolloutId: number; count: number; least: number }): Promise<void> => {
    await client.query("analyze action_watches");
    await due(client, of.rolloutId, { count: of.count, inSeconds: 0 });
    const groups = bench.groups();
    const before = cpuSeconds(groups);
    const from = performance.now();
    await untilRow(client, noneDue, [], 50);
    const perSecond = of.count / ((performance.now() - from) / 1_000);
    // On a busy machine this says what it costs all the same.
    const cpuMs = (total(difference(cpuSeconds(groups), before)) * 1_000) / of.count;
    const figure = `settling ${of.count.toLocaleString("en")} ${what}`;
    const limit = `budget ${of.least} /s; ${cpuMs.toFixed(2)} ms of CPU each`;
    bench.report.add({ scenario: "safety", figure, value: perSecond, unit: "/s", limit, ok: perSecond >= of.least });
  };
  const report = (of: number, result: number, count: number) =>
    client.query(
      `select count(report(1, d.controller_id, d.id, 0::smallint, 0::smallint, $3::smallint, null, '{}'::text[], now(), 0, 0, 'DEFAULT', null))
         from (select a.controller_id, a.id from actions a where a.tenant_id = 1 and a.rollout_id = $1 and a.active order by a.target_id limit $2) d`,
      [of, count, result],
    );
  await settle("that fall silent", { rolloutId, count: inGroup - trickle, least: bounds.settledPerSecond });
  await report(second, 0, inGroup - retries);
  await settle("claims that are not proven", { rolloutId: second, count: inGroup - retries, least: bounds.settledPerSecond });
  await report(rolloutId, 1, retries);
  await settle("attempts that begin", { rolloutId, count: retries, least: bounds.retriedPerSecond });
}
