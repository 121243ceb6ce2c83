import pg from "pg";
import { countOf, explain, pageOf, type Sql } from "../lib/ask.ts";
import type { Bench } from "../lib/context.ts";
import { best, fleetSql, type Question, questions, rare, settle } from "../lib/fleet.sql.ts";
import { median } from "../lib/statistics.ts";

const rounds = 5;

/** The costs of one kind of question, beside those of the best statements known for it. */
interface Compared {
  figure: string;
  ours: Sql[];
  best: string[];
  /** The number of rows in the answer, where few match: what may be read is in proportion to it. */
  rows?: number;
}

/** Measures lists over a fleet: page and total, a deep page, and the count that previews a filter; by query and of all. */
export async function benchQueries(bench: Bench): Promise<void> {
  const targets = bench.options.fleet;
  const admin = new pg.Client({ connectionString: bench.stack.adminDatabaseUrl });
  const client = new pg.Client({ connectionString: bench.stack.databaseUrls.management });
  await Promise.all([admin.connect(), client.connect()]);
  try {
    await admin.query(fleetSql(targets));
    await admin.query(settle);
    for (const each of await ofAll(client, targets)) await measure(bench, { admin, client }, each, targets);
    for (const question of questions)
      for (const each of await ofQuestion(client, question)) await measure(bench, { admin, client }, each, targets);
  } finally {
    await Promise.all([admin.end(), client.end()]);
  }
}

async function ofAll(client: pg.Client, targets: number): Promise<Compared[]> {
  const deep = Math.floor(targets * 0.9);
  return [
    { figure: "first page and total", ours: await pageOf(client, undefined), best: [best.pageOfAll(0), best.countOfAll] },
    { figure: "page at 90 % and total", ours: await pageOf(client, undefined, deep), best: [best.pageOfAll(deep), best.countOfAll] },
    { figure: "count", ours: await countOf(client, undefined), best: [best.countOfAll] },
  ];
}

async function ofQuestion(client: pg.Client, question: Question): Promise<Compared[]> {
  const { name, q } = question;
  return [
    { figure: `${name}: page and total`, ours: await pageOf(client, q), best: [best.page(question), best.count(question)], rows: rare },
    { figure: `${name}: preview`, ours: await countOf(client, q), best: [best.count(question)], rows: rare },
  ];
}

async function measure(bench: Bench, { admin, client }: { admin: pg.Client; client: pg.Client }, each: Compared, targets: number) {
  const bare = each.best.map((text) => ({ text, values: [] }));
  const times = { ours: [] as number[], best: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await time(client, each.ours));
    times.best.push(await time(admin, bare));
  }
  const { buffers } = await explain(client, each.ours);
  const reference = await explain(admin, bare);
  const scenario = `queries over ${targets.toLocaleString("en")}`;
  const figure = each.figure;
  bench.report.add({ scenario, figure, value: median(times.ours), unit: "ms", limit: `best SQL ${median(times.best).toFixed(1)} ms` });
  const budget = each.rows === undefined ? undefined : 20 * each.rows + 200;
  bench.report.add({
    scenario,
    figure: `${figure}, buffers`,
    value: buffers,
    unit: "pages",
    limit: `best SQL ${reference.buffers}${budget === undefined ? "" : `, budget ${budget}`}`,
    ...(budget === undefined ? {} : { ok: buffers <= budget }),
  });
}

async function time(client: pg.Client, statements: readonly Sql[]): Promise<number> {
  const from = performance.now();
  for (const { text, values } of statements) await client.query(text, values);
  return performance.now() - from;
}
