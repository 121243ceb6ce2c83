import pg from "pg";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, ownCpuSeconds, total } from "../lib/cpu.ts";
import { load } from "../lib/load.ts";
import { assign, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";

const devices = 2_500;
/** Of so many reports of a device the last one ends its action; of those one in five fails. */
const perDevice = 4;
const events = 100_000;
/** Keeping the counters costs a report so many percent of its processor time at most. */
const maxPercent = 2;

/**
 * Measures what it costs to keep the counters of insights and failures: the processor time of the database for the events of one report, beside what
 * the report itself costs all processes.
 */
export async function benchCounters(bench: Bench): Promise<void> {
  const report = await costOfReport(bench);
  const counters = await costOfCounters(bench);
  const percent = (counters / report) * 100;
  const scenario = "counters";
  bench.report.add({ scenario, figure: "CPU of a report, all processes", value: report * 1_000, unit: "ms" });
  bench.report.add({ scenario, figure: "CPU of its counters", value: counters * 1_000, unit: "ms" });
  const limit = `budget ${maxPercent} %`;
  bench.report.add({ scenario, figure: "counters, of a report", value: percent, unit: "%", limit, ok: percent <= maxPercent });
}

/** Answers CPU seconds. */
async function costOfReport({ api, stack, groups }: Bench): Promise<number> {
  const ids = await seedTargets(api, "counted-", devices);
  const actions = await assign(api, (await seedSet(api, "counted-set")).id, ids);
  const bodyOf = (execution: string, finished: string) =>
    JSON.stringify({ status: { execution, result: { finished }, details: ["Download 47 % of image.swu"] } });
  const [goesOn, succeeds, fails] = [bodyOf("proceeding", "none"), bodyOf("closed", "success"), bodyOf("closed", "failure")];
  const reports = perDevice * devices;
  const next = (index: number, last: number) => {
    const body = index < last ? goesOn : index % 5 === 0 ? fails : succeeds;
    const id = ids[index % ids.length] as string;
    const headers = { authorization: targetTokenHeader(id), "content-type": "application/json" };
    return { path: `/DEFAULT/controller/v1/${id}/deploymentBase/${actions.get(id)}/feedback`, method: "POST" as const, headers, body };
  };
  const send = (requests: number, last: number) =>
    load({ url: stack.baseUrl, connections: 16, requests, expect: 200, next: (index) => next(index, last) });
  await send(devices, devices);
  const before = cpuSeconds(groups());
  const { bad } = await send(reports, reports - devices);
  if (bad > 0) throw new Error(`${bad} of ${reports} reports were refused`);
  return total(difference(cpuSeconds(groups()), before)) / reports;
}

/** Answers CPU seconds of the database for the events of one report; the service's own rounds take their share of them meanwhile. */
async function costOfCounters({ stack }: Bench): Promise<number> {
  const client = new pg.Client({ connectionString: stack.databaseUrls.controller });
  await client.connect();
  try {
    await client.query(
      `insert into outbox (tenant_id, topic, type, common, items)
       select 1, 'action-events', 'io.update.action.status_changed.v1',
              '{"tenant":"DEFAULT","rolloutId":7,"rolloutGroupId":8,"distributionSet":{"id":100,"name":"n","version":"1"}}',
              json_build_array(json_build_array(i, 'f' || i, 3, 3, case i % 20 when 0 then 1 when 4 then 0 when 8 then 0 when 12 then 0 when 16 then 0
                               else 3 end, i % 4 <> 0, 1, 1000, i % 20, array['Download 47 % of image.swu', 'still going'], 1700000000000, 3))
         from generate_series(1, $1::int) i`,
      [events],
    );
    const { pid } = (await client.query("select pg_backend_pid() as pid")).rows[0];
    const before = ownCpuSeconds(pid);
    let folded = 0;
    const left = "select exists (select from outbox o, monthly_counts_folded f where (o.txid, o.id) > (f.txid, f.id)) as more";
    for (let more = true; more; more = (await client.query(left)).rows[0].more) {
      folded += (await client.query("select fold_monthly_counts(2000) as n")).rows[0].n;
    }
    return (ownCpuSeconds(pid) - before) / folded;
  } finally {
    await client.end();
  }
}
