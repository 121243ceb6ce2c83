import type pg from "pg";
import type { Bench } from "../lib/context.ts";
import { type LoadResult, load } from "../lib/load.ts";
import { makeRollout, startFirstGroup, untilRow } from "../lib/rollout-run.ts";
import { seedSet, targetTokenHeader } from "../lib/seed.ts";

const connections = 32;
const requestsAtMost = 20_000;
/** The share of the measured maximum. */
const share = 0.25;
const idleSeconds = 10;
/** The limit for the p99 of polls beside the rollout, as a multiple of that without it. */
const p99Factor = 3;

/**
 * Measures devices of no rollout that poll, at a fixed share of what the machine can do, while a rollout over all others is created, its first group
 * is started and all its actions are created.
 */
export async function benchPollsWithReports(
  bench: Bench,
  client: pg.Client,
  { scenario, targets, bystanders }: { scenario: string; targets: number; bystanders: number },
): Promise<void> {
  let place = 0;
  const next = () => {
    const id = `beside-${String(place++ % bystanders).padStart(6, "0")}`;
    const headers = { accept: "application/hal+json", authorization: targetTokenHeader(id) };
    return { path: `/DEFAULT/controller/v1/${id}`, headers };
  };
  const polls = (options: { requests: number; rate?: number; signal?: AbortSignal }): Promise<LoadResult> =>
    load({ url: bench.stack.baseUrl, connections, expect: 200, next, ...options });
  await polls({ requests: bystanders }); // every device polls once: what follows is the steady state of a cyclic fleet
  const max = await polls({ requests: requestsAtMost });
  const rate = max.perSecond * share;
  const idle = await polls({ requests: Math.ceil(rate * idleSeconds), rate });

  const stop = new AbortController();
  const beside = polls({ requests: Math.ceil(rate * 1_800), rate, signal: stop.signal });
  const set = await seedSet(bench.api, "rollout-set-polls");
  try {
    const run = await makeRollout(bench, client, { prefix: "large-", setId: set.id, targets });
    await startFirstGroup(bench, client, run);
    const scheduled = `select where not exists (select from rollout_engine.rollout_groups where tenant_id = 1 and rollout_id = $1 and status = 'ready')`;
    await untilRow(client, scheduled, [run.id], 100);
  } finally {
    stop.abort();
  }
  const during = await beside;
  const figure = `polls at ${Math.round(rate)} /s beside it`;
  const add = (name: string, value: number, unit: string, limit: string, ok: boolean) =>
    bench.report.add({ scenario, figure: `${figure}, ${name}`, value, unit, limit, ok });
  add("answers other than 200", during.bad, "", `of ${during.requests}; maximum ${Math.round(max.perSecond)} /s`, during.bad === 0);
  const budget = p99Factor * idle.p99Ms;
  const limit = `idle ${idle.p99Ms.toFixed(1)} ms, budget ${budget.toFixed(1)} ms`;
  add("p99", during.p99Ms, "ms", limit, during.p99Ms <= budget);
}
