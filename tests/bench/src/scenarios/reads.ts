import pg from "pg";
import { createApi } from "../lib/api.ts";
import { compareReads, type Read } from "../lib/compare-reads.ts";
import type { Bench } from "../lib/context.ts";
import { fleetSql, settle } from "../lib/fleet.sql.ts";
import { historySql } from "../lib/read-figures.sql.ts";
import { bestReads, bestSummary, countFleet, pageOfAll, readsSql, searchedPage, settleReads, summaryByStatus } from "../lib/reads.sql.ts";
import { median } from "../lib/statistics.ts";
import { benchFigures } from "./read-figures.ts";

const size = 200;
/** A page that is not counted takes so many milliseconds at most (contract console.md §1, M02). */
const maxUncounted = 10;
/** A page of full rows takes at most so many times the plain page (contract console.md §1, M03). */
const maxFull = 2;
/** The summary by status takes so many milliseconds at most (contract console.md §1, M12). */
const maxSummary = 50;

/**
 * Measures what consoles read of a large fleet with a long history: pages of 200 rows, plain and full, uncounted, searched, and deep by cursor, insights,
 * and kinds of failures.
 */
export async function benchReads(bench: Bench): Promise<void> {
  const targets = bench.options.fleet;
  const admin = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl });
  const client = new pg.Client({ connectionString: bench.stack.databaseUrls.management });
  await Promise.all([admin.connect(), client.connect()]);
  try {
    for (const sql of [fleetSql(targets), settle, readsSql, historySql, settleReads]) await admin.query(sql);
    const deep = (await admin.query("select controller_id from controller.targets where tenant_id = 1 order by 1 offset $1 limit 1", [
      Math.floor(targets * 0.9),
    ])) as { rows: { controller_id: string }[] };
    const place = deep.rows[0]?.controller_id ?? "";
    const uncounted = { total: "none", positions: true } as const;
    const plain = await compareReads(
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
      ...(await searched(client)),
    ];
    for (const read of reads) await compareReads(bench, { admin, client }, read);
    await admin.query(countFleet(targets));
    const summary = { figure: "summary by status", ours: summaryByStatus, best: bestSummary, limit: maxSummary };
    await compareReads(bench, { admin, client }, summary);
    await benchFigures(bench, { admin, client });
    await overHttp(bench);
  } finally {
    await Promise.all([admin.end(), client.end()]);
  }
}

/** The uncounted pages of searches that few targets match, one in fifty, and nearly all. */
async function searched(client: pg.Client): Promise<Read[]> {
  const questions = [
    { q: "updatestatus==error", what: "of few that match", status: 4, limit: maxUncounted },
    { q: "updatestatus==pending", what: "of one in fifty that matches", status: 2 },
    { q: "updatestatus==in_sync", what: "of many that match", status: 3 },
  ];
  const reads: Read[] = [];
  for (const { what, status, q, ...budget } of questions) {
    const ours = await searchedPage(client, q, size);
    reads.push({ figure: `page ${what}, total=none`, ours, best: bestReads.ofStatus(size, status), ...budget });
  }
  return reads;
}

const asked = 30;

/** What the same pages take a client, through gateway and management. */
async function overHttp({ api, stack, report, options }: Bench): Promise<void> {
  // a user who may not see the tokens of devices, which this fleet does not have
  const [name, password] = ["reader", "a reader of large fleets"];
  await api.post("/users", [{ name, password, permissions: ["READ_TARGET"] }]);
  const reader = createApi(stack.baseUrl, password, name);
  const scenario = `reads over ${options.fleet.toLocaleString("en")}`;
  for (const query of ["total=none", "total=none&representation=full", "total=none&q=updatestatus==error", "total=exact"]) {
    const times: number[] = [];
    for (let n = 0; n < asked; n++) {
      const from = performance.now();
      await reader.get(`/targets?limit=${size}&${query}`);
      times.push(performance.now() - from);
    }
    report.add({ scenario, figure: `GET targets?${query}, to its last byte`, value: median(times), unit: "ms", limit: "no budget" });
  }
  await reader.close();
}
