import { type QuotaLimits, type ResolvedPolicy, tally, type WatchStage, watchStages } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { cloudEventOf } from "@harrier/events";
import { expect } from "vitest";
import {
  brokenSequences,
  type CommandsFixture,
  chunkOf,
  contextOf,
  countedProgress,
  itemOf,
  progressOf,
  reservedSet,
  runGroup,
  seedMembers,
} from "../commands.fixture.ts";
import { seedTargets } from "../device.fixture.ts";
import { executions, results } from "../domain/transitions.ts";
import { createLastPolls } from "../poll/last-polls.ts";
import { settle } from "./settle.ts";
import type { Step } from "./steps.fixture.ts";

/** A proof by one attribute, or by polls alone. */
export const proof = (change: Partial<NonNullable<ResolvedPolicy["proof"]>> = {}): NonNullable<ResolvedPolicy["proof"]> => ({
  require: "version",
  stable: { polls: 2, minutes: 0 },
  graceSeconds: 900,
  withinSeconds: 3600,
  onExpiry: "error",
  watchHours: 0,
  expected: [{ key: "sw_version", value: "1.3", match: "exact" }],
  ...change,
});

export const policy = (change: Partial<ResolvedPolicy>): string => JSON.stringify({ skip: "assigned", ...change });

export interface Watched {
  status: number;
  active: boolean;
  tally: number;
  outcome: number | null;
  stage: WatchStage | null;
  silent: boolean | null;
  assigned: number | null;
  installed: number | null;
  updateStatus: number;
  asked: boolean;
}

/** A fleet of one rollout with a policy, and what its devices and time do to it. */
export function watchedFleet(fixture: CommandsFixture) {
  const { pool } = fixture.db;
  const deps = {
    db: fixture.db,
    ids: fixture.ids,
    limits: fixture.limits,
    fault: (name: string) => fixture.faults.push(name),
    now: Date.now,
  };
  async function events(actionId: number) {
    const { rows } = await pool.query(
      `select o.id::text, o.txid::text, o.topic, o.type, o.common, json_build_array(i.item) as items, o.traceparent, 0 as at
         from outbox o cross join lateral json_array_elements(o.items) as i (item)
        where o.topic = 'action-events' and (i.item ->> 0)::bigint = $1 order by (i.item ->> 2)::int`,
      [actionId],
    );
    return rows.map((row) => cloudEventOf("controller", row, 0));
  }
  const fleet = {
    /** Stores the status of a rollout, as its engine does. */
    async rolloutIs(id: number, status: string): Promise<void> {
      const engine = fixture.database.db("rollout-engine").pool;
      await engine.query(
        `insert into rollouts (tenant_id, id, name, target_filter, set_id, set_name, set_version, set_type_id, migration_step, force_type, status,
                               created_by, last_modified_by)
         values (1, $1::bigint, 'r' || $1::bigint, 'x', 100, 's', '1', 1, false, 1, $2, 'a', 'a') on conflict do nothing`,
        [id, status],
      );
      await engine.query("update rollouts set status = $2 where tenant_id = 1 and id = $1", [id, status]);
    },
    /** Starts a rollout of the set on new targets; returns their actions in order. */
    async start(rolloutId: number, targetIds: number[], safety: string, change: { setId?: number } = {}): Promise<number[]> {
      await seedTargets(
        fixture,
        targetIds.map((id) => ({ id, installedSetId: 99, installedActionId: null })),
      );
      await seedMembers(fixture, { rolloutId, groupId: 1 }, targetIds);
      await runGroup(fixture, chunkOf(rolloutId, { safety, ...change }));
      const { rows } = await pool.query("select id from actions where rollout_id = $1 order by target_id", [rolloutId]);
      return rows.map((row) => row.id);
    },
    async report(
      controllerId: string,
      actionId: number,
      execution = "closed",
      result = "success",
      code: number | null = null,
      maxEntries = 0,
    ): Promise<string> {
      const { rows } = await pool.query(
        "select report(1, $1, $2, 0::smallint, $3::smallint, $4::smallint, $5, '{}', now(), $6, 0, 'DEFAULT', null) as outcome",
        [controllerId, actionId, executions.indexOf(execution as never), results.indexOf(result as never), code, maxEntries],
      );
      return rows[0].outcome;
    },
    async retrieve(controllerId: string, actionId: number, maxEntries = 0): Promise<string> {
      const { rows } = await pool.query("select outcome from retrieve_action(1, $1, $2, 0::smallint, 0, $3, 'DEFAULT', null, true)", [
        controllerId,
        actionId,
        maxEntries,
      ]);
      return rows[0].outcome;
    },
    async shows(controllerId: string, attributes: Record<string, string>, mode = 0): Promise<void> {
      await pool.query("select put_attributes(1, $1, $2::smallint, $3, $4, 0, 'DEFAULT', null)", [
        controllerId,
        mode,
        Object.keys(attributes),
        Object.values(attributes),
      ]);
    },
    async runs(controllerId: string, name: string, version: string): Promise<string> {
      const { rows } = await pool.query("select report_running_version(1, 'DEFAULT', $1, $2, $3, null, 0, 'x', null) as outcome", [
        controllerId,
        name,
        version,
      ]);
      return rows[0].outcome;
    },
    /** Polls so many times, a second apart, as if the time of earlier ones had passed. */
    async polls(targetId: number, times = 1): Promise<void> {
      for (let n = 0; n < times; n += 1) {
        await pool.query("update action_watches set counts_from = counts_from - interval '1 second' where target_id = $1 and polls > 0", [
          targetId,
        ]);
        const lastPolls = createLastPolls({ pool });
        // The database has microseconds: a poll of the millisecond in which the watch began would seem to be before it.
        lastPolls.record(1, targetId, Date.now() + 1);
        await lastPolls.flush();
      }
    },
    /** Lets so many seconds pass for the watch of an action. */
    async later(actionId: number, seconds: number): Promise<void> {
      await pool.query(
        `update action_watches set began_at = began_at - i, since = since - i, claimed_at = claimed_at - i, counts_from = counts_from - i,
                evidence_at = evidence_at - i, due_at = due_at - i
           from (select make_interval(secs => $2) as i) x where action_id = $1`,
        [actionId, seconds],
      );
    },
    settle: () => settle(deps),
    settleWith: (quotas: Partial<QuotaLimits>) => settle({ ...deps, limits: (tenant) => ({ ...fixture.limits(tenant), ...quotas }) }),
    deps,
    async state(actionId: number): Promise<Watched> {
      const { rows } = await pool.query(
        `select a.status, a.active, a.tally, a.outcome, w.stage, w.silent, s.assigned_set_id as assigned, s.installed_set_id as installed,
                s.update_status as "updateStatus", s.request_attributes as asked
           from actions a join target_state s on s.tenant_id = a.tenant_id and s.target_id = a.target_id
           left join action_watches w on w.tenant_id = a.tenant_id and w.action_id = a.id where a.id = $1`,
        [actionId],
      );
      return { ...rows[0], stage: rows[0].stage === null ? null : watchStages[rows[0].stage - 1] };
    },
    /** Proving, silent and retrying ones of the group. */
    async beside(rolloutId: number): Promise<number[]> {
      const { rows } = await fixture.database
        .db("rollout-engine")
        .pool.query("select proving, silent, retrying from controller.group_progress_v1 where tenant_id = 1 and rollout_id = $1", [
          rolloutId,
        ]);
      return rows[0] === undefined ? [0, 0, 0] : Object.values(rows[0]);
    },
    /** The same, counted over the actions themselves. */
    async countedBeside(rolloutId: number): Promise<number[]> {
      const { rows } = await pool.query(
        `select array_agg((select count(*) from actions a where a.tenant_id = 1 and a.rollout_id = $1 and a.retried_by is null and a.tally = t)
                  order by n) as counts from unnest($2::int[]) with ordinality as x (t, n)`,
        [rolloutId, [tally.proving, tally.silent, tally.retrying]],
      );
      return rows[0].counts;
    },
    /** The types of the action's events, as they are sent. */
    async eventTypes(actionId: number): Promise<string[]> {
      return (await events(actionId)).map(({ type }) => type.replace("io.update.action.", "").replace(".v1", ""));
    },
    /** What the action's last event says of its watch. */
    async lastSafety(actionId: number): Promise<unknown> {
      const [last] = (await events(actionId)).slice(-1);
      return (last?.["data"] as { safety?: unknown } | undefined)?.safety;
    },
    async lastText(actionId: number): Promise<string> {
      const { rows } = await pool.query("select messages from action_history where action_id = $1 order by revision desc limit 1", [
        actionId,
      ]);
      return rows[0].messages[0];
    },
    /** Notes one download where an action may have so many entries. */
    async download(actionId: number, maxEntries: number): Promise<string> {
      await pool.query(
        "select record_downloads(gen_random_uuid()::text, '{1}', array[$1::bigint], '{/file}', array[now()], array[$2::int])",
        [actionId, maxEntries],
      );
      return "ok";
    },
    downloads: (actionId: number) =>
      fixture.actions.noteDownloads({ downloads: [{ tenantId: 1, actionId, path: "/file", at: Date.now() }] }, contextOf()),
    prove: (controllerId: string, actionId: number, proven: boolean) =>
      fixture.actions.proveAction({ controllerId, actionId, proven, remark: "seen in the lab" }, contextOf()),
    retry: (controllerId: string, actionId: number) => fixture.actions.retryAction({ controllerId, actionId }, contextOf()),
  };
  return {
    ...fleet,
    /** Carries out a step of steps.fixture.ts for one target and its action. */
    async perform(step: Step, { n, actionId, setId }: { n: number; actionId: number; setId: number }): Promise<unknown> {
      const controllerId = `d${n}`;
      switch (step.kind) {
        case "report":
          return fleet.report(controllerId, actionId, step.execution, step.result);
        case "look":
          return fleet.retrieve(controllerId, actionId);
        case "poll":
          return fleet.polls(n);
        case "settle":
          return fleet.settle();
        case "shows":
          return fleet.shows(controllerId, step.what === "else" ? { other: "1.3" } : { sw_version: step.what === "new" ? "1.3" : "1.2" });
        case "runs":
          return fleet.runs(controllerId, `set ${step.same ? setId : setId + 1}`, "1.0");
        case "time":
          return fleet.later(actionId, step.seconds);
        case "person":
          return fleet.prove(controllerId, actionId, step.proven).catch((error: unknown) => {
            if (!(error instanceof HarrierError) || error.code !== "actionNotProving") throw error;
          });
        case "another": {
          await fixture.actions.assignSet({ set: reservedSet(setId + 1), items: [itemOf(controllerId)], initiator: "admin" }, contextOf());
          const { rows } = await pool.query("select max(id)::int as id from actions where target_id = $1", [n]);
          return fleet.report(controllerId, rows[0].id);
        }
      }
    },
  };
}

/** Whatever a test has done: the counts of these rollouts are those of the actions, and histories and events have no gap. */
export async function expectConsistent(fixture: CommandsFixture, rolloutIds: readonly number[]): Promise<void> {
  const fleet = watchedFleet(fixture);
  for (const rolloutId of rolloutIds) {
    expect(await progressOf(fixture, rolloutId), `rollout ${rolloutId}`).toEqual(await countedProgress(fixture, rolloutId));
    expect(await fleet.beside(rolloutId), `rollout ${rolloutId}`).toEqual(await fleet.countedBeside(rolloutId));
  }
  expect(await brokenSequences(fixture)).toEqual([]);
}
