import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { type LoadRequest, load } from "../lib/load.ts";
import { assign, type SeededSet, seedFleet, targetTokenHeader } from "../lib/seed.ts";
import { median, medianRatio, pairs } from "../lib/statistics.ts";
import { addPolls } from "./safety-polls.ts";
import { addStartAndSettle } from "./safety-settling.ts";

/** What a policy may cost, beside the same without one. */
const bounds = { plain: 1.02, watched: 1.25 };
const policy = {
  // No poll comes, so that nothing is settled meanwhile.
  proof: { graceSeconds: 0, stable: { polls: 1 }, withinSeconds: 3_600 },
  limits: { downloadingSeconds: 3_600, installingSeconds: 3_600 },
};
const devicesPerRound = 1_000;
const rounds = 5;
const connections = 16;
/** This is above every id that services assign. */
const firstId = 1_600_000_000;

/** Measures what a policy costs beside the same without one: polls, reports, configuration data, starting a chunk, rows, and settling. */
export async function benchSafetyCosts(bench: Bench, set: SeededSet): Promise<void> {
  const client = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl ?? "" });
  await client.connect();
  try {
    await client.query("set search_path to controller");
    const ms = await addReports(bench, client, set);
    await addPlainReports(bench, client, set, ms.report);
    await addPlainData(bench, client, ms.data);
    await addStartAndSettle(bench, client, set);
    await addPolls(bench, client);
  } finally {
    await client.end();
  }
}

const prefixOf = (round: number, watched: boolean): string => `cost-${watched ? "watched" : "plain"}-${round}-`;

/**
 * Reports and configuration data by HTTP: what all processes do for one, with a policy and without, in interleaved pairs. Returns the milliseconds
 * of both without one.
 */
async function addReports(bench: Bench, client: pg.Client, set: SeededSet): Promise<{ report: number; data: number }> {
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
  return { report: median(cpu.report.plain), data: median(cpu.shown.plain) };
}

/** Returns the milliseconds of CPU that all processes need for one request. */
async function cpuOf(bench: Bench, requests: number, next: (i: number) => LoadRequest): Promise<number> {
  const groups = bench.groups();
  const before = cpuSeconds(groups);
  const result = await load({ url: bench.stack.baseUrl, connections, requests, expect: 200, next });
  if (result.bad > 0) throw new Error(`${result.bad} of ${requests} requests were not answered 200`);
  return (total(difference(cpuSeconds(groups), before)) * 1_000) / requests;
}

/** A function that is measured beside the same without its questions about watches. */
interface Asking {
  name: string;
  /** What asks about watches, in its text. */
  asks: readonly RegExp[];
  /** One call for each of so many devices; answers the milliseconds of all. */
  run(name: string, turn: number): Promise<number>;
  calls: number;
  /** What all processes need for a whole request. */
  requestMs: number;
  figure: string;
}

const turns = 16;
/** So many reports share a call: about what gathers under load. */
const perCall = 10;

/** What policies cost a request that concerns none: what the function asks about watches, as a part of the CPU of the whole request. */
async function addAsked(bench: Bench, client: pg.Client, of: Asking): Promise<void> {
  const { rows } = await client.query<{ text: string }>(`select pg_get_functiondef('controller.${of.name}'::regproc) as text`);
  const other = `bench_${of.name}_without_watches`;
  const renamed = (rows[0]?.text ?? "").replace(new RegExp(`FUNCTION controller\\.${of.name}\\(`, "i"), `FUNCTION controller.${other}(`);
  const without = of.asks.reduce((text, pattern) => text.replace(pattern, ""), renamed);
  if (/from action_watches|watch_report|watch_attributes/.test(without))
    throw new Error(`${of.name}() asks about watches elsewhere too: this measure must leave that out as well`);
  await client.query(without);
  let turn = 0;
  const { a, b } = await pairs(
    turns,
    () => of.run(of.name, turn++),
    () => of.run(other, turn++),
  );
  await client.query(`drop function controller.${other}`);
  // The first pairs warm both up.
  const addedMs = median(a.slice(2).map((ms, i) => ms - (b[i + 2] ?? Number.NaN))) / of.calls;
  const value = 1 + addedMs / of.requestMs;
  const alone = `of the function alone ${medianRatio(a.slice(2), b.slice(2)).toFixed(3)}× of ${(median(b) / of.calls).toFixed(3)} ms`;
  bench.report.add({
    scenario: "safety",
    figure: of.figure,
    value,
    unit: "×",
    limit: `budget ${bounds.plain}×; ${alone}`,
    ok: value <= bounds.plain,
  });
}

async function addPlainReports(bench: Bench, client: pg.Client, set: SeededSet, requestMs: number): Promise<void> {
  const per = 250;
  const prefix = "cost-both-";
  const count = 2 * per * turns;
  await seedFleet(client, { prefix, count, firstId: firstId + 50_000 });
  const ids = Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(6, "0")}`);
  const actions = await assign(bench.api, set.id, ids);
  const run = async (name: string, turn: number): Promise<number> => {
    const own = ids.slice(turn * per, (turn + 1) * per);
    const text = `select count(${name}(g.tenants, g.ids, g.actions, g.channels, g.executions, g.results, g.nothing, '{}', g.counts, g.times, g.counts,
                                       g.counts, g.names, g.nothing::text[]))
                    from (select array_agg(1) as tenants, array_agg(d.id) as ids, array_agg(d.action) as actions, array_agg(0::smallint) as channels,
                                 array_agg($3::smallint) as executions, array_agg($4::smallint) as results, array_agg(null::int) as nothing,
                                 array_agg(0) as counts, array_agg(extract(epoch from now())::float8 * 1000) as times,
                                 array_agg('DEFAULT'::text) as names
                            from unnest($1::text[], $2::bigint[]) with ordinality as d (id, action, n) group by n / ${perCall}) g`;
    const from = performance.now();
    for (const [execution, result] of [
      [1, 2],
      [0, 0],
    ])
      await client.query(text, [own, own.map((id) => actions.get(id)), execution, result]);
    return performance.now() - from;
  };
  await addAsked(bench, client, {
    name: "record_reports",
    asks: [
      /\n\s*exists \(select from action_watches [^\n]*/,
      /\n\s*if v_effect = 'installed' and r\.watched then[^\n]*/,
      /\n {6}if a\.policy_id is not null then[\s\S]*?\n {6}end if;/,
    ],
    run,
    calls: 2 * per,
    requestMs,
    figure: "reports without a policy: what is asked about watches, of a request's CPU",
  });
}

async function addPlainData(bench: Bench, client: pg.Client, requestMs: number): Promise<void> {
  const per = 500;
  const prefix = "cost-data-";
  await seedFleet(client, { prefix, count: per, firstId: firstId + 90_000 });
  const ids = Array.from({ length: per }, (_, n) => `${prefix}${String(n).padStart(6, "0")}`);
  const run = async (name: string, turn: number): Promise<number> => {
    const text = `select count(${name}(1, d.id, 0::smallint, '{sw_version,serial}'::text[], array[$2, d.id], 0, 'DEFAULT', null))
                    from unnest($1::text[]) d (id)`;
    const from = performance.now();
    await client.query(text, [ids, String(turn)]);
    return performance.now() - from;
  };
  await addAsked(bench, client, {
    name: "put_attributes",
    asks: [/\n\s*if exists \(select from action_watches[\s\S]*?end if;/],
    run,
    calls: per,
    requestMs,
    figure: "configuration data without a policy: what is asked about watches, of a request's CPU",
  });
}
