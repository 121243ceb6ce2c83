import pg from "pg";
import { compareReads, type Read } from "../lib/compare-reads.ts";
import type { Bench } from "../lib/context.ts";
import { fleetSql, settle } from "../lib/fleet.sql.ts";
import { bestReads, bestSummary, countFleet, pageOfAll, readsSql, settleReads, summaryByStatus } from "../lib/reads.sql.ts";
import { benchChangeStream } from "./change-stream.ts";
import { benchFigures } from "./read-figures.ts";
import { benchCounters } from "./report-counters.ts";

const size = 200;
/** A page that is not counted takes so many milliseconds at most (contract console.md §1, M02). */
const maxUncounted = 10;
/** A page of full rows takes at most so many times the plain page (contract console.md §1, M03). */
const maxFull = 2;
/** The summary by status takes so many milliseconds at most (contract console.md §1, M12). */
const maxSummary = 50;

/**
 * Measures what consoles read of a large fleet with a long history: pages of 200 rows, plain and full, uncounted, and deep by cursor, insights, kinds of
 * failures; what keeping the counters costs; and how soon, and at which cost, listeners hear of changes.
 */
export async function benchReads(bench: Bench): Promise<void> {
  // first, as long as nothing is there that the background works on
  await benchChangeStream(bench);
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
    ];
    for (const read of reads) await compareReads(bench, { admin, client }, read);
    await admin.query(countFleet(targets));
    const summary = { figure: "summary by status", ours: summaryByStatus, best: bestSummary, limit: maxSummary };
    await compareReads(bench, { admin, client }, summary);
    await benchFigures(bench, { admin, client });
  } finally {
    await Promise.all([admin.end(), client.end()]);
  }
  await benchCounters(bench);
}
