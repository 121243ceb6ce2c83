import pg from "pg";
import { explain, type Sql } from "../lib/ask.ts";
import type { Bench } from "../lib/context.ts";
import { fleetSql, settle } from "../lib/fleet.sql.ts";
import { bestReads, bestSummary, countFleet, pageOfAll, readsSql, settleReads, summaryByStatus } from "../lib/reads.sql.ts";
import { median } from "../lib/statistics.ts";

/** The first rounds fill the caches of both sides and do not count. */
const rounds = { warm: 3, measured: 15 };
const size = 200;
/** A page that is not counted takes so many milliseconds at most (contract console.md §1, M02). */
const maxUncounted = 10;
/** A page of full rows takes at most so many times the plain page (contract console.md §1, M03). */
const maxFull = 2;
/** The summary by status takes so many milliseconds at most (contract console.md §1, M12). */
const maxSummary = 50;

interface Read {
  figure: string;
  ours: Sql;
  best: string;
  limit?: number;
}

/** Measures the pages of a large fleet that consoles read: plain and full rows, uncounted, and deep by cursor; all of 200 rows. */
export async function benchReads(bench: Bench): Promise<void> {
  const targets = bench.options.fleet;
  const admin = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl });
  const client = new pg.Client({ connectionString: bench.stack.databaseUrls.management });
  await Promise.all([admin.connect(), client.connect()]);
  try {
    for (const sql of [fleetSql(targets), settle, readsSql, settleReads]) await admin.query(sql);
    const deep = (await admin.query("select controller_id from controller.targets where tenant_id = 1 order by 1 offset $1 limit 1", [
      Math.floor(targets * 0.9),
    ])) as { rows: { controller_id: string }[] };
    const place = deep.rows[0]?.controller_id ?? "";
    const uncounted = { total: "none", positions: true } as const;
    const plain = await measure(
      bench,
      { admin, client },
      { figure: "plain page and total", ours: pageOfAll(size), best: bestReads.plain(size) },
    );
    const reads: Read[] = [
      { figure: "full rows and total", ours: pageOfAll(size, { full: true }), best: bestReads.full(size), limit: maxFull * plain },
      { figure: "plain page, total=none", ours: pageOfAll(size, uncounted), best: bestReads.plain(size), limit: maxUncounted },
      {
        figure: "page behind a cursor at 90 %, total=none",
        ours: pageOfAll(size, { ...uncounted, after: [place] }),
        best: bestReads.plain(size, place),
        limit: maxUncounted,
      },
    ];
    for (const read of reads) await measure(bench, { admin, client }, read);
    await admin.query(countFleet(targets));
    const summary = { figure: "summary by status", ours: summaryByStatus, best: bestSummary, limit: maxSummary };
    await measure(bench, { admin, client }, summary);
  } finally {
    await Promise.all([admin.end(), client.end()]);
  }
}

async function measure(bench: Bench, { admin, client }: { admin: pg.Client; client: pg.Client }, read: Read): Promise<number> {
  const { figure, ours, best, limit } = read;
  const bare = { text: best, values: [] };
  const times = { ours: [] as number[], best: [] as number[] };
  for (let round = -rounds.warm; round < rounds.measured; round++) {
    const [own, reference] = [await time(client, ours), await time(admin, bare)];
    if (round < 0) continue;
    times.ours.push(own);
    times.best.push(reference);
  }
  const [own, reference] = [await explain(client, [ours]), await explain(admin, [bare])];
  const scenario = `reads over ${bench.options.fleet.toLocaleString("en")}`;
  const value = median(times.ours);
  // of a machine that is not alone, the fastest round says more than the median
  const told = `best SQL ${median(times.best).toFixed(1)} ms, fastest ${Math.min(...times.ours).toFixed(1)} and ${Math.min(...times.best).toFixed(1)} ms`;
  const budget = limit === undefined ? {} : { limit: `${told}, budget ${limit.toFixed(1)} ms`, ok: value <= limit };
  bench.report.add({ scenario, figure, value, unit: "ms", limit: told, ...budget });
  bench.report.add({ scenario, figure: `${figure}, buffers`, value: own.buffers, unit: "pages", limit: `best SQL ${reference.buffers}` });
  return value;
}

async function time(client: pg.Client, { text, values }: Sql): Promise<number> {
  const from = performance.now();
  await client.query(text, values);
  return performance.now() - from;
}
