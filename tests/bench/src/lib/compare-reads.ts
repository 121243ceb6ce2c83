import type pg from "pg";
import { explain, type Sql } from "./ask.ts";
import type { Bench } from "./context.ts";
import { median } from "./statistics.ts";

/** The first rounds fill the caches of both sides and do not count. */
const rounds = { warm: 3, measured: 15 };

/** A statement of a service beside the best one known for the same. */
export interface Read {
  figure: string;
  /** With a name it is prepared once for each connection, as services do with statements that have one. */
  ours: Sql & { name?: string };
  best: string;
  /** Our median takes so many milliseconds at most. */
  limit?: number;
}

/** The connections of the database's owner, who runs the best statement, and of the service that runs ours. */
export interface Sides {
  admin: pg.Client;
  client: pg.Client;
}

/** Measures both in turn and adds their times and buffers to the report; answers the median of ours in milliseconds. */
export async function compareReads(bench: Bench, { admin, client }: Sides, read: Read): Promise<number> {
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

async function time(client: pg.Client, query: Read["ours"]): Promise<number> {
  const from = performance.now();
  await client.query(query);
  return performance.now() - from;
}
