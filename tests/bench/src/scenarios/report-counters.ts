import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { countFleets, dueFleets, foldMonthlyCounts } from "../../../../apps/controller/src/insights/insights.sql.ts";
import type { Bench } from "../lib/context.ts";
import { cpuSecondsWithEnded, difference, ownCpuSeconds, total } from "../lib/cpu.ts";
import { load } from "../lib/load.ts";
import { assign, seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";

const devices = 2_500;
/** Of so many reports of a device the last one ends its action; of those one in five fails. */
const perDevice = 4;
const reports = perDevice * devices;
const events = 100_000;
/** As many as the job takes at a time. */
const eventsAtOnce = 2_000;
/** Keeping the counters costs a report so many percent of its processor time at most. */
const maxPercent = 2;

const walks = 20;
/** A fleet that changes is walked again so many seconds after a walk at the earliest (controller's count_fleets). */
const restSeconds = 5;
const quietMs = 10_000;
const askAgainMs = 200;

/**
 * Measures what it costs to keep the counters of insights and failures, beside what a report itself costs all processes: the processor time of
 * database and service for the events of a report, and its share of the walks over the fleet meanwhile. It wants a stack of its own, on which nothing
 * else is to be done.
 */
export async function benchCounters(bench: Bench): Promise<void> {
  const report = await costOfReport(bench);
  const own = new pg.Pool({ connectionString: bench.stack.databaseUrls.controller, max: 1 });
  try {
    const events = await costOfEvents(own);
    // the walks while the reports came, at most, as fast as they come on a machine that does nothing else
    const lasted = (report * reports) / availableParallelism();
    const walk = ((await costOfWalk(own)) * Math.max(1, lasted / restSeconds)) / reports;
    const percent = ((events + walk) / report) * 100;
    const scenario = "counters";
    bench.report.add({ scenario, figure: "CPU of a report, all processes", value: report * 1_000, unit: "ms" });
    bench.report.add({ scenario, figure: "CPU of its counters", value: events * 1_000, unit: "ms" });
    bench.report.add({ scenario, figure: "CPU of its share of the walks", value: walk * 1_000, unit: "ms" });
    const limit = `budget ${maxPercent} %`;
    bench.report.add({ scenario, figure: "counters, of a report", value: percent, unit: "%", limit, ok: percent <= maxPercent });
  } finally {
    await own.end();
  }
}

/** Answers CPU seconds of a report beyond what the processes take anyway. */
async function costOfReport({ api, stack, groups }: Bench): Promise<number> {
  const ids = await seedTargets(api, "counted-", devices);
  const actions = await assign(api, (await seedSet(api, "counted-set")).id, ids);
  const bodyOf = (execution: string, finished: string) =>
    JSON.stringify({ status: { execution, result: { finished }, details: ["Download 47 % of image.swu"] } });
  const [goesOn, succeeds, fails] = [bodyOf("proceeding", "none"), bodyOf("closed", "success"), bodyOf("closed", "failure")];
  const next = (index: number, last: number) => {
    const body = index < last ? goesOn : index % 5 === 0 ? fails : succeeds;
    const id = ids[index % ids.length] as string;
    const headers = { authorization: targetTokenHeader(id), "content-type": "application/json" };
    return { path: `/DEFAULT/controller/v1/${id}/deploymentBase/${actions.get(id)}/feedback`, method: "POST" as const, headers, body };
  };
  const send = (requests: number, last: number) =>
    load({ url: stack.baseUrl, connections: 16, requests, expect: 200, next: (index) => next(index, last) });
  await send(devices, devices);
  const used = async (work: () => Promise<unknown>) => {
    const [before, from] = [cpuSecondsWithEnded(groups()), performance.now()];
    await work();
    return { cpu: total(difference(cpuSecondsWithEnded(groups()), before)), lasted: (performance.now() - from) / 1_000 };
  };
  await sleep(quietMs); // what has begun before comes to rest
  const quiet = await used(() => sleep(quietMs));
  const { cpu, lasted } = await used(async () => {
    const { bad } = await send(reports, reports - devices);
    if (bad > 0) throw new Error(`${bad} of ${reports} reports were refused`);
  });
  return (cpu - (quiet.cpu * lasted) / quiet.lasted) / reports;
}

/** Answers the CPU seconds of this process and of the connection's backend that `work` takes. */
async function costOf(pool: pg.Pool, work: () => Promise<unknown>): Promise<number> {
  const { pid } = (await pool.query("select pg_backend_pid() as pid")).rows[0];
  const [backend, here] = [ownCpuSeconds(pid), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(here);
  return ownCpuSeconds(pid) - backend + (user + system) / 1e6;
}

/** Answers CPU seconds for the events of one report, as the job of the service adds them up; its own rounds take their share of them meanwhile. */
async function costOfEvents(pool: pg.Pool): Promise<number> {
  await pool.query(
    `insert into outbox (tenant_id, topic, type, common, items)
     select 1, 'action-events', 'io.update.action.status_changed.v1',
            '{"tenant":"DEFAULT","rolloutId":7,"rolloutGroupId":8,"distributionSet":{"id":100,"name":"n","version":"1"}}',
            json_build_array(json_build_array(i, 'f' || i, 3, 3, case i % 20 when 0 then 1 when 4 then 0 when 8 then 0 when 12 then 0 when 16 then 0
                             else 3 end, i % 4 <> 0, 1, 1000, i % 20, array['Download 47 % of image.swu', 'still going'], 1700000000000, 3))
       from generate_series(1, $1::int) i`,
    [events],
  );
  const left = "select exists (select from outbox o, monthly_counts_folded f where (o.txid, o.id) > (f.txid, f.id)) as more";
  let folded = 0;
  const seconds = await costOf(pool, async () => {
    for (let more = true; more; ) {
      const { rows } = await pool.query({ name: foldMonthlyCounts.name, text: foldMonthlyCounts.text, values: [eventsAtOnce] });
      folded += rows[0].folded;
      if (rows[0].folded > 0) continue;
      // the service is at it: to ask again and again would count as work
      await sleep(askAgainMs);
      more = (await pool.query(left)).rows[0].more;
    }
  });
  return seconds / folded;
}

/** Answers the CPU seconds of one walk over the fleet. */
async function costOfWalk(pool: pg.Pool): Promise<number> {
  const seconds = await costOf(pool, async () => {
    for (let n = 0; n < walks; n++) {
      await pool.query("update fleet_walks set due_at = now(), cursor_id = -1 where tenant_id = 1");
      await pool.query({ name: dueFleets.name, text: dueFleets.text, values: [1] });
      await pool.query({ name: countFleets.name, text: countFleets.text, values: [[1], [new Date()], devices * 2] });
    }
  });
  return seconds / walks;
}
