import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { load } from "../lib/load.ts";
import { makeRollout, type RolloutRun, startFirstGroup } from "../lib/rollout-run.ts";
import { seedFleet, seedSet, targetTokenHeader } from "../lib/seed.ts";

const groups = 10;
const targets = 200;
const budgetMs = 150;
const limitMs = 10_000;
/** This is above every id that services assign. */
const firstId = 1_500_000_000;

interface Device {
  readonly controllerId: string;
  readonly actionId: number;
}

/** Measures the time from the report that completes a group until a device of the next one would be offered its update: each group ends by one report. */
export async function benchGroupChange(bench: Bench): Promise<void> {
  const client = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl ?? "" });
  await client.connect();
  try {
    await measure(bench, client);
  } finally {
    await client.end();
  }
}

async function measure(bench: Bench, client: pg.Client): Promise<void> {
  await bench.api.put("/system/configs/authentication.targettoken.enabled", { value: true });
  await seedFleet(client, { prefix: "change-", count: targets, firstId });
  const set = await seedSet(bench.api, "group-change-set");
  const run = await makeRollout(bench, client, { prefix: "change-", setId: set.id, targets, groups });
  await startFirstGroup(bench, client, run);
  const times: number[] = [];
  for (let group = 1; group < groups; group += 1) times.push(await changeGroup(bench, client, run));
  times.sort((a, b) => a - b);
  const add = bench.report.add;
  const scenario = "change of the group";
  const median = times[Math.floor(times.length / 2)] ?? 0;
  add({
    scenario,
    figure: "last report → next group offered, median",
    value: median,
    unit: "ms",
    limit: `budget ${budgetMs} ms`,
    ok: median <= budgetMs,
  });
  add({ scenario, figure: "last report → next group offered, worst", value: times.at(-1) ?? 0, unit: "ms" });
}

/** Answers the milliseconds between the report of one device, which is as many as begin the next group, and the first running action behind it. */
async function changeGroup(bench: Bench, client: pg.Client, run: RolloutRun): Promise<number> {
  const running = `select controller_id as "controllerId", id::int as "actionId" from controller.actions
    where tenant_id = 1 and rollout_id = $1 and status = 3 and not id = any($2) order by group_id desc, target_id limit 1`;
  const before = await client.query<Device>(running, [run.id, []]);
  const known = await client.query<{ ids: number[] }>(
    "select array_agg(id::int) as ids from controller.actions where tenant_id = 1 and rollout_id = $1 and status = 3",
    [run.id],
  );
  const [device] = before.rows;
  if (device === undefined) throw new Error("no device of the group has anything to report");
  const from = performance.now();
  await reportSuccess(bench, device);
  while ((await client.query(running, [run.id, known.rows[0]?.ids ?? []])).rowCount === 0) {
    if (performance.now() - from > limitMs) throw new Error("the next group was not offered");
  }
  return performance.now() - from;
}

async function reportSuccess(bench: Bench, { controllerId, actionId }: Device): Promise<void> {
  const path = `/DEFAULT/controller/v1/${controllerId}/deploymentBase/${actionId}/feedback`;
  const headers = { authorization: targetTokenHeader(controllerId), "content-type": "application/json" };
  const body = JSON.stringify({ status: { execution: "closed", result: { finished: "success" } } });
  const next = () => ({ path, method: "POST" as const, headers, body });
  const answer = await load({ url: bench.stack.baseUrl, connections: 1, requests: 1, expect: 200, next });
  if (answer.bad > 0) throw new Error("the report was refused");
}
