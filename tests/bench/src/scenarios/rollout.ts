import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "../lib/context.ts";
import { load } from "../lib/load.ts";
import { seedSet, seedTargets, targetTokenHeader } from "../lib/seed.ts";
import { median } from "../lib/statistics.ts";
import { openRawRows } from "../limits/raw-rows.ts";

interface Rollout {
  id: number;
  status: string;
}
interface Group {
  id: number;
  status: string;
  totalTargets: number;
  totalTargetsPerStatus: { running: number; finished: number };
}

/** The tenant's quota of targets in one group. */
const mostInGroup = 20_000;
/** A step may take this many times the raw writing of its rows, and one second. */
const factor = 3;
const allowance = 1;

/** A rollout over N targets: from POST to ready, and from start until every device of the first group is offered its update. */
export async function benchRollout(bench: Bench): Promise<void> {
  const { report, options } = bench;
  const raw = await openRawRows(bench.stack.adminDatabaseUrl ?? "");
  const rounds = { ready: [] as number[], rawReady: [] as number[], first: [] as number[], rawFirst: [] as number[] };
  try {
    for (let round = 0; round < Math.min(options.rounds, 3); round++) {
      const prefix = `r${round}-`;
      const ids = await seedTargets(bench.api, prefix, options.targets);
      const set = await seedSet(bench.api, `rollout-set-${round}`);
      const made = await timeRollout(bench, { prefix, setId: set.id, targets: options.targets });
      await confirmOffered(bench, ids.slice(0, 200));
      rounds.ready.push(made.ready);
      rounds.first.push(made.first);
      rounds.rawReady.push(await raw.ready(made.rolloutId));
      rounds.rawFirst.push(await raw.firstGroup(made.rolloutId, made.groupId));
    }
  } finally {
    await raw.close();
  }
  const scenario = `rollout of ${options.targets.toLocaleString("en")}`;
  const add = (figure: string, value: number, rawSeconds: number) => {
    const budget = factor * rawSeconds + allowance;
    report.add({
      scenario,
      figure,
      value,
      unit: "s",
      limit: `raw ${rawSeconds.toFixed(2)} s, budget ${budget.toFixed(2)} s`,
      ok: value <= budget,
    });
  };
  add("POST → ready", median(rounds.ready), median(rounds.rawReady));
  add("start → first group offered", median(rounds.first), median(rounds.rawFirst));
}

async function timeRollout(
  bench: Bench,
  input: { prefix: string; setId: number; targets: number },
): Promise<{ ready: number; first: number; rolloutId: number; groupId: number }> {
  const { api } = bench;
  const posted = performance.now();
  const { id } = await api.post<Rollout>("/rollouts", {
    name: `rollout-${input.prefix}`,
    targetFilterQuery: `controllerid==${input.prefix}*`,
    distributionSetId: input.setId,
    amountGroups: Math.max(3, Math.ceil(input.targets / mostInGroup)),
  });
  await until(async () => (await api.get<Rollout>(`/rollouts/${id}`)).status === "ready");
  const ready = (performance.now() - posted) / 1_000;
  const page = await api.get<{ content: Group[] }>(`/rollouts/${id}/deploygroups?representation=full`);
  const groupId = page.content[0]?.id ?? 0;
  const started = performance.now();
  await api.post(`/rollouts/${id}/start`, {});
  await until(async () => {
    const group = await api.get<Group>(`/rollouts/${id}/deploygroups/${groupId}`);
    return group.totalTargetsPerStatus.running + group.totalTargetsPerStatus.finished === group.totalTargets;
  });
  return { ready, first: (performance.now() - started) / 1_000, rolloutId: id, groupId };
}

/** What the counters say must be what devices see. */
async function confirmOffered(bench: Bench, ids: readonly string[]): Promise<void> {
  const next = (i: number) => {
    const id = ids[i] as string;
    return { path: `/DEFAULT/controller/v1/${id}`, headers: { authorization: targetTokenHeader(id) } };
  };
  const result = await load({ url: bench.stack.baseUrl, connections: 8, requests: ids.length, expect: 200, next });
  if (result.bad > 0) throw new Error("devices of the first group could not poll");
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const limit = Date.now() + 300_000;
  while (!(await done())) {
    if (Date.now() > limit) throw new Error("a rollout did not get there within five minutes");
    await sleep(20);
  }
}
