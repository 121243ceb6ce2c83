import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { type LoadRequest, load } from "../lib/load.ts";
import { untilRow } from "../lib/rollout-run.ts";
import { assign, type SeededSet, seedFleet, targetTokenHeader } from "../lib/seed.ts";
import { median, medianRatio, pairs } from "../lib/statistics.ts";

/** What a policy may cost, beside the same without one. */
const bounds = { plainReport: 1.02, watched: 1.25, start: 1.5, rowBytes: 120, settledPerSecond: 5_000, lateSeconds: 3 };
const policy = {
  // No poll comes, so that nothing is settled meanwhile.
  proof: { graceSeconds: 0, stable: { polls: 1 }, withinSeconds: 3_600 },
  limits: { downloadingSeconds: 3_600, installingSeconds: 3_600 },
};
const limited = { proof: {}, limits: { notFetchedSeconds: 3_600 } };
const devicesPerRound = 1_000;
const rounds = 5;
const connections = 16;
const inGroup = 20_000;
const trickle = 500;
/** This is above every id that services assign. */
const firstId = 1_600_000_000;

/** Measures what a policy costs beside the same without one: reports, configuration data, starting a chunk, rows, and settling. */
export async function benchSafetyCosts(bench: Bench, set: SeededSet): Promise<void> {
  const client = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl ?? "" });
  await client.connect();
  try {
    await client.query("set search_path to controller");
    const reportMs = await addReports(bench, client, set);
    await addPlainReports(bench, client, set, reportMs);
    await addStartAndSettle(bench, client, set);
  } finally {
    await client.end();
  }
}

const prefixOf = (round: number, watched: boolean): string => `cost-${watched ? "watched" : "plain"}-${round}-`;

/**
 * Reports and configuration data by HTTP: what all processes do for one, with a policy and without, in interleaved pairs. Returns the milliseconds of
 * a report without one.
 */
async function addReports(bench: Bench, client: pg.Client, set: SeededSet): Promise<number> {
  await bench.api.put("/system/configs/authentication.targettoken.enabled", { value: true });
  const cpu = { report: { plain: [] as number[], watched: [] as number[] }, shown: { plain: [] as number[], watched: [] as number[] } };
  const one = async (round: number, watched: boolean): Promise<void> => {
    const prefix = prefixOf(round, watched);
    const ids = Array.from({ length: devicesPerRound }, (_, n) => `${prefix}${String(n).padStart(6, "0")}`);
    await seedFleet(client, { prefix, count: devicesPerRound, firstId: firstId + (2 * round + Number(watched)) * devicesPerRound });
    const actions = await assign(bench.api, set.id, ids, watched ? { safety: policy } : {});
    const of = watched ? "watched" : "plain";
    const reports = [
      { execution: "proceeding", finished: "none" },
      { execution: "closed", finished: "success" },
    ];
    const send = (i: number, path: string, method: "POST" | "PUT", body: unknown): LoadRequest => {
      const id = ids[i % ids.length] as string;
      const headers = { authorization: targetTokenHeader(id), "content-type": "application/json" };
      return { path: `/DEFAULT/controller/v1/${id}/${path}`, method, headers, body: JSON.stringify(body) };
    };
    const feedback = (i: number) => {
      const { execution, finished } = reports[Math.floor(i / ids.length)] as (typeof reports)[number];
      const path = `deploymentBase/${actions.get(ids[i % ids.length] as string)}/feedback`;
      return send(i, path, "POST", { status: { execution, result: { finished } } });
    };
    cpu.report[of].push(await cpuOf(bench, reports.length * ids.length, feedback));
    const shows = (i: number) => send(i, "configData", "PUT", { mode: "merge", data: { sw_version: "1" } });
    cpu.shown[of].push(await cpuOf(bench, ids.length, shows));
  };
  await pairs(
    rounds,
    (round) => one(round, false),
    (round) => one(round, true),
  );
  for (const [figure, { plain, watched }] of [
    ["reports with a policy, CPU of all processes", cpu.report],
    ["configuration data with a policy, CPU of all processes", cpu.shown],
  ] as const) {
    const value = medianRatio(watched, plain);
    const limit = `budget ${bounds.watched}×; ${median(plain).toFixed(2)} ms without`;
    bench.report.add({ scenario: "safety", figure, value, unit: "×", limit, ok: value <= bounds.watched });
  }
  return median(cpu.report.plain);
}

/** Returns the milliseconds of CPU that all processes need for one request. */
async function cpuOf(bench: Bench, requests: number, next: (i: number) => LoadRequest): Promise<number> {
  const groups = bench.groups();
  const before = cpuSeconds(groups);
  const result = await load({ url: bench.stack.baseUrl, connections, requests, expect: 200, next });
  if (result.bad > 0) throw new Error(`${result.bad} of ${requests} requests were not answered 200`);
  return (total(difference(cpuSeconds(groups), before)) * 1_000) / requests;
}

/** What policies cost a report of an action without one: the function that decides, beside the same without its two questions about watches. */
async function addPlainReports(bench: Bench, client: pg.Client, set: SeededSet, reportMs: number): Promise<void> {
  const { rows } = await client.query<{ text: string }>("select pg_get_functiondef('controller.report'::regproc) as text");
  const without = (rows[0]?.text ?? "")
    .replace(/FUNCTION controller\.report\(/i, "FUNCTION controller.bench_report_without_watches(")
    .replace(/\n\s*if v_effect = 'installed' and exists \(select from action_watches[\s\S]*?end if;/, "")
    .replace(/\n\s*if a\.policy_id is not null then[\s\S]*?end if;/, "");
  if (/from action_watches|watch_report/.test(without))
    throw new Error("report() asks about watches elsewhere too: this measure must leave that out as well");
  await client.query(without);
  const per = 250;
  const turns = 16;
  const prefix = "cost-both-";
  const count = 2 * per * turns;
  await seedFleet(client, { prefix, count, firstId: firstId + 50_000 });
  const ids = Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(6, "0")}`);
  const actions = await assign(bench.api, set.id, ids);
  let place = 0;
  const run = async (name: string): Promise<number> => {
    const own = ids.slice(place, place + per);
    place += per;
    const text = `select count(${name}(1, d.id, d.action, 0::smallint, $3::smallint, $4::smallint, null, '{}'::text[], now(), 0, 0, 'DEFAULT', null))
                    from unnest($1::text[], $2::bigint[]) d (id, action)`;
    const from = performance.now();
    for (const [execution, result] of [
      [1, 2],
      [0, 0],
    ])
      await client.query(text, [own, own.map((id) => actions.get(id)), execution, result]);
    return performance.now() - from;
  };
  const { a, b } = await pairs(
    turns,
    () => run("report"),
    () => run("bench_report_without_watches"),
  );
  await client.query("drop function controller.bench_report_without_watches");
  // The first pairs warm both up.
  const addedMs = median(a.slice(2).map((ms, i) => ms - (b[i + 2] ?? Number.NaN))) / per / 2;
  const value = 1 + addedMs / reportMs;
  const bare = median(b) / per / 2;
  const limit = `budget ${bounds.plainReport}×; of the function alone ${medianRatio(a.slice(2), b.slice(2)).toFixed(3)}× of ${bare.toFixed(3)} ms`;
  const figure = "reports without a policy, with what is asked about watches";
  bench.report.add({ scenario: "safety", figure, value, unit: "×", limit, ok: value <= bounds.plainReport });
}

/** Starts groups with a policy and without, then settles the watches of those that have one. */
async function addStartAndSettle(bench: Bench, client: pg.Client, set: SeededSet): Promise<void> {
  const perSecond = { plain: [] as number[], watched: [] as number[] };
  let last = 0;
  const start = async (round: number, watched: boolean): Promise<void> => {
    const prefix = `start-${watched ? "watched" : "plain"}-${round}-`;
    await seedFleet(client, { prefix, count: inGroup, firstId: firstId + 100_000 + (2 * round + Number(watched)) * inGroup });
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
    if (watched) last = id;
  };
  await start(0, false); // warms up
  perSecond.plain.length = 0;
  await pairs(
    2,
    (round) => start(round + 1, false),
    (round) => start(round + 1, true),
  );
  const value = medianRatio(perSecond.plain, perSecond.watched);
  const rates = `${Math.round(median(perSecond.watched))} rows/s, without ${Math.round(median(perSecond.plain))}`;
  bench.report.add({
    scenario: "safety",
    figure: "starting a chunk with a policy",
    value,
    unit: "×",
    limit: `budget ${bounds.start}×; ${rates}`,
    ok: value <= bounds.start,
  });
  await addRows(bench, client);
  await addSettling(bench, client, last);
}

async function addRows(bench: Bench, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ row: number; all: number }>(
    `select avg(pg_column_size(w) + 4)::float8 as row, pg_total_relation_size('action_watches')::float8 / count(*) as all from action_watches w`,
  );
  const { row = Number.NaN, all = Number.NaN } = rows[0] ?? {};
  const limit = `budget ${bounds.rowBytes} B; with free space and indexes ${Math.round(all)} B`;
  bench.report.add({ scenario: "safety", figure: "a watched action's row", value: row, unit: "B", limit, ok: row <= bounds.rowBytes });
}

async function addSettling(bench: Bench, client: pg.Client, rolloutId: number): Promise<void> {
  const add = bench.report.add;
  const none = "select from action_watches where tenant_id = 1 and due_at <= now() having count(*) = 0";
  const due = async (count: number, inSeconds: number): Promise<void> => {
    await client.query(
      `update action_watches w set since = w.since - interval '1 hour', due_at = now() + make_interval(secs => $3)
         from (select a.id from actions a join action_watches x on x.tenant_id = 1 and x.action_id = a.id and not x.silent and x.due_at is not null
                where a.tenant_id = 1 and a.rollout_id = $1 order by a.target_id limit $2) i
        where w.tenant_id = 1 and w.action_id = i.id`,
      [rolloutId, count, inSeconds],
    );
  };
  await due(trickle, 2);
  const at = (await client.query<{ at: Date }>("select min(due_at) as at from action_watches where tenant_id = 1")).rows[0]?.at;
  await sleep(2_000);
  await untilRow(client, none, [], 100);
  const late = await client.query<{ late: number }>(
    `select extract(epoch from max(h.occurred_at) - $2)::float8 as late from action_history h join actions a on a.tenant_id = 1 and a.id = h.action_id
      where h.tenant_id = 1 and a.rollout_id = $1 and a.tally = 3`,
    [rolloutId, at],
  );
  const value = late.rows[0]?.late ?? Number.NaN;
  const lateLimit = `budget ${bounds.lateSeconds} s`;
  add({
    scenario: "safety",
    figure: `${trickle} that are due at once: the last is settled after`,
    value,
    unit: "s",
    limit: lateLimit,
    ok: value <= bounds.lateSeconds,
  });

  await client.query("analyze action_watches");
  const many = inGroup - trickle;
  await due(many, 0);
  const from = performance.now();
  await untilRow(client, none, [], 100);
  const perSecond = many / ((performance.now() - from) / 1_000);
  const limit = `budget ${bounds.settledPerSecond} /s`;
  add({
    scenario: "safety",
    figure: `settling ${many.toLocaleString("en")}`,
    value: perSecond,
    unit: "/s",
    limit,
    ok: perSecond >= bounds.settledPerSecond,
  });
}
