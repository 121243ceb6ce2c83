import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Bench } from "./context.ts";

/** This is the tenant's quota of targets in one group. */
const maxInGroup = 20_000;
/** Of a group's targets, this many successes begin the next group, and this many errors pause the rollout. */
const successPercent = 5;
const errorPercent = 1;

const pollMs = 20;
const limitMs = 900_000;

export interface RolloutRun {
  id: number;
  firstGroupId: number;
  groups: number;
  /** POST → ready. */
  readySeconds: number;
}

/** Waits by reading a row, so that nothing that is measured has to answer meanwhile. */
export async function untilRow(client: pg.Client, text: string, values: unknown[], everyMs = pollMs): Promise<void> {
  const limit = Date.now() + limitMs;
  while ((await client.query(text, values)).rowCount === 0) {
    if (Date.now() > limit) throw new Error(`a rollout did not get there within ${limitMs / 60_000} minutes: ${text}`);
    await sleep(everyMs);
  }
}

/** Creates a rollout and measures the time from POST to ready. */
export async function makeRollout(
  bench: Bench,
  client: pg.Client,
  input: { prefix: string; setId: number; targets: number; groups?: number },
): Promise<RolloutRun> {
  const groups = input.groups ?? Math.max(3, Math.ceil(input.targets / maxInGroup));
  const posted = performance.now();
  const { id } = await bench.api.post<{ id: number }>("/rollouts", {
    name: `rollout-${input.prefix}${input.setId}`,
    targetFilterQuery: `controllerid==${input.prefix}*`,
    distributionSetId: input.setId,
    amountGroups: groups,
    successCondition: { condition: "THRESHOLD", expression: String(successPercent) },
    errorCondition: { condition: "THRESHOLD", expression: String(errorPercent) },
  });
  await untilRow(client, "select from rollout_engine.rollouts where tenant_id = 1 and id = $1 and status = 'ready'", [id]);
  const readySeconds = (performance.now() - posted) / 1_000;
  const first = await client.query<{ id: number }>(
    "select id::int from rollout_engine.rollout_groups where tenant_id = 1 and rollout_id = $1 order by position limit 1",
    [id],
  );
  return { id, firstGroupId: first.rows[0]?.id ?? 0, groups, readySeconds };
}

/** Starts a rollout. */
export async function startRollout(bench: Bench, run: RolloutRun): Promise<void> {
  await bench.api.post(`/rollouts/${run.id}/start`, {});
}

/** Lets devices answer as soon as they are offered the update, until the rollout is finished; `answer` gets those that have not answered, by their ids. */
export async function answerRollout(
  client: pg.Client,
  run: RolloutRun,
  answer: (offered: ReadonlyMap<string, number>) => Promise<void>,
): Promise<void> {
  const offered = `select controller_id as "controllerId", id::int as "actionId" from controller.actions
    where tenant_id = 1 and rollout_id = $1 and status = 3 and active`;
  const finished = "select from rollout_engine.rollouts where tenant_id = 1 and id = $1 and status = 'finished'";
  const limit = Date.now() + limitMs;
  while ((await client.query(finished, [run.id])).rowCount === 0) {
    if (Date.now() > limit) throw new Error("a rollout whose devices answer did not finish");
    const { rows } = await client.query<{ controllerId: string; actionId: number }>(offered, [run.id]);
    if (rows.length > 0) await answer(new Map(rows.map(({ controllerId, actionId }) => [controllerId, actionId])));
    else await sleep(5);
  }
}

/** Measures the seconds from the start until every device of the first group is offered its update. */
export async function startFirstGroup(bench: Bench, client: pg.Client, run: RolloutRun): Promise<number> {
  const started = performance.now();
  await bench.api.post(`/rollouts/${run.id}/start`, {});
  await untilRow(
    client,
    `select from rollout_engine.rollout_groups g join controller.group_progress_v1 p using (tenant_id, rollout_id)
      where g.tenant_id = 1 and g.rollout_id = $1 and g.id = $2 and p.group_id = g.id and p.running + p.finished = g.total_targets`,
    [run.id, run.firstGroupId],
  );
  return (performance.now() - started) / 1_000;
}

const reportOf = (result: number): string =>
  `controller.report(1, a.controller_id, a.id, 0::smallint, 0::smallint, ${result}::smallint, null, '{}'::text[], now(), 0, 0, 'DEFAULT', null)`;

// Devices report in bulk: just as many successes as begin the next group, of every group that has begun.
const reportSuccesses = `
  select count(${reportOf(0)}) from rollout_engine.rollout_groups g
    join controller.group_progress_v1 p on p.tenant_id = g.tenant_id and p.rollout_id = g.rollout_id and p.group_id = g.id
    cross join lateral (
      select o.id, o.controller_id from controller.actions o
       where o.tenant_id = 1 and o.rollout_id = $1 and o.group_id = g.id and o.status = 3 order by o.target_id
       limit ceil(g.total_targets * ${successPercent} / 100.0)::int) a
   where g.tenant_id = 1 and g.rollout_id = $1 and g.status = 'running' and g.started and p.finished * 100 < g.total_targets * ${successPercent}`;

/** Measures the seconds until all groups have begun and every action is started; devices report no more than that takes. */
export async function runAllGroups(client: pg.Client, run: RolloutRun): Promise<number> {
  const from = performance.now();
  const limit = Date.now() + limitMs;
  await client.query("set search_path to controller");
  for (;;) {
    await client.query(reportSuccesses, [run.id]);
    const { rows } = await client.query<{ n: number }>(
      "select count(*)::int as n from rollout_engine.rollout_groups where tenant_id = 1 and rollout_id = $1 and not started",
      [run.id],
    );
    if (rows[0]?.n === 0) return (performance.now() - from) / 1_000;
    if (Date.now() > limit) throw new Error("the groups of a rollout did not begin");
    await sleep(50);
  }
}

const lastGroup =
  "(select id from rollout_engine.rollout_groups where tenant_id = 1 and rollout_id = $1 order by position desc limit 1 offset 1)";

const reportErrors = `
  select count(${reportOf(1)}) from (
    select o.id, o.controller_id from controller.actions o
     where o.tenant_id = 1 and o.rollout_id = $1 and o.group_id = ${lastGroup} and o.status = 3 order by o.target_id
     limit (select total_targets * ${errorPercent} / 100 from rollout_engine.rollout_groups
             where tenant_id = 1 and rollout_id = $1 and id = ${lastGroup})) a`;

/** Brings one group up to its error threshold in bulk, and returns the device whose report would exceed it. */
export async function nearThreshold(client: pg.Client, run: RolloutRun): Promise<{ controllerId: string; actionId: number }> {
  await client.query(reportErrors, [run.id]);
  const { rows } = await client.query<{ controllerId: string; actionId: number }>(
    `select controller_id as "controllerId", id::int as "actionId" from controller.actions
      where tenant_id = 1 and rollout_id = $1 and group_id = ${lastGroup} and status = 3 order by target_id limit 1`,
    [run.id],
  );
  const [next] = rows;
  if (next === undefined) throw new Error("no action is left to report an error for");
  return next;
}
