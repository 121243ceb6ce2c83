import { setTimeout } from "node:timers/promises";
import { HarrierError } from "@harrier/errors";
import type { TestDatabase } from "@harrier/testkit";
import type { Actions } from "../engine/perform.ts";

/**
 * A test double for controller's commands and its devices. It works in controller's own tables and as its role, so that the published views are the
 * real ones.
 */
export interface ControllerDouble {
  readonly actions: Actions;
  /** The names of the commands that were called, with the group if there is one. */
  readonly calls: string[];
  /** It is called before each command; a throw fails the command. */
  beforeCall: (command: string, tenantId: number) => void | Promise<void>;
  /** Ends the first `n` running actions of a group, and waits for those that do not run yet: a group runs before all its actions do. */
  report(rolloutId: number, groupId: number, n: number, outcome: "finished" | "error" | "cancelled"): Promise<void>;
  /** The same for those that run now, if there are any. */
  reportAtMost(rolloutId: number, groupId: number, n: number, outcome: "finished" | "error" | "cancelled"): Promise<void>;
  /** Lets something happen to the first `n` actions of a group that may have it, as the watches of a safety policy do. */
  watch(rolloutId: number, groupId: number, n: number, what: Watched): Promise<void>;
  /** Deletes the targets of the first `n` running actions of a group. */
  deleteTargets(rolloutId: number, groupId: number, n: number): Promise<void>;
}

/** From which tallies and status to which; as controller's own functions count it: by status, and the trigger on `actions` adds the tally. */
const watchedSteps = {
  silent: { from: [0], was: 3, status: 3, tally: 3 },
  speaks: { from: [3], was: 3, status: 3, tally: 0 },
  claims: { from: [0, 3], was: 3, status: 0, tally: 1 },
  proven: { from: [1], was: 0, status: 0, tally: 0 },
  refuted: { from: [1], was: 0, status: 1, tally: 0 },
  "fails for now": { from: [0, 3], was: 3, status: 1, tally: 4 },
  "fails for good": { from: [4], was: 1, status: 1, tally: 0 },
} as const;
export type Watched = keyof typeof watchedSteps;

const outcomes = { finished: { status: 0, bucket: 2 }, error: { status: 1, bucket: 3 }, cancelled: { status: 4, bucket: 4 } };
const tenantId = 1;
/** An action of a group that runs begins within this time. */
const startLimitMs = 10_000;
type Call = Parameters<Actions["openFence"]>[1];

export function controllerDouble(database: TestDatabase, chunk = 2_000): ControllerDouble {
  const { pool } = database.db("controller");
  const fences = new Map<string, number>();
  const calls: string[] = [];

  const end = async (rolloutId: number, groupId: number, n: number, outcome: keyof typeof outcomes): Promise<number> => {
    const { status, bucket } = outcomes[outcome];
    const { rows } = await pool.query<{ n: number }>(endActions, [tenantId, rolloutId, groupId, n, status, bucket]);
    return rows[0]?.n ?? 0;
  };
  const fenceOf = ({ principal }: Call, rolloutId: unknown) => `${principal.tenantId}/${rolloutId}`;
  async function begin(command: string, fence: string, epoch: number): Promise<void> {
    calls.push(command);
    await double.beforeCall(command, Number.parseInt(fence, 10));
    if (fences.get(fence) !== epoch) throw new HarrierError("fenced");
  }

  let nextJoining = 1_000_000_000;
  async function join(tenant: number, values: unknown[]) {
    const { rows } = await pool.query(joinChunk, [tenant, ...values, nextJoining]);
    nextJoining += chunk;
    return rows[0];
  }

  const double: ControllerDouble = {
    calls,
    beforeCall: () => {},
    actions: {
      async openFence({ rolloutId = 0, epoch = 0 }, call) {
        calls.push("openFence");
        await double.beforeCall("openFence", call.principal.tenantId);
        await pool.query(openFence, [call.principal.tenantId, rolloutId, epoch]);
        fences.set(fenceOf(call, rolloutId), Number(epoch));
        return {};
      },
      async closeFence({ rolloutId = 0 }, call) {
        calls.push("closeFence");
        await pool.query("update rollout_fences set open = false where tenant_id = $1 and rollout_id = $2", [
          call.principal.tenantId,
          rolloutId,
        ]);
        fences.delete(fenceOf(call, rolloutId));
        return {};
      },
      async scheduleChunk({ rolloutId = 0, groupId = 0, epoch = 0, cursor = -1, set, joining }, call) {
        await begin(`schedule ${groupId}`, fenceOf(call, rolloutId), Number(epoch));
        if (joining) return join(call.principal.tenantId, [rolloutId, groupId, epoch, cursor, chunk, set?.id]);
        const { rows } = await pool.query(scheduleChunk, [call.principal.tenantId, rolloutId, groupId, cursor, chunk, set?.id]);
        return { cursor: rows[0].cursor ?? cursor, done: rows[0].seen < chunk, created: rows[0].created };
      },
      async startChunk({ rolloutId = 0, groupId = 0, epoch = 0, cursor = -1 }, call) {
        await begin(`start ${groupId}`, fenceOf(call, rolloutId), Number(epoch));
        const { rows } = await pool.query(startChunk, [call.principal.tenantId, rolloutId, groupId, cursor, chunk]);
        return { cursor: rows[0].cursor ?? cursor, done: rows[0].seen < chunk, started: rows[0].started, skipped: 0 };
      },
      async stopChunk({ rolloutId = 0, cursor = -1, keepRunning = false, force = false }, call) {
        const { tenantId, tenant } = call.principal;
        calls.push("stop");
        await double.beforeCall("stop", tenantId);
        if (fences.has(fenceOf(call, rolloutId))) throw new HarrierError("fenced");
        const { rows } = await pool.query(stopChunk, [tenantId, tenant, rolloutId, cursor, chunk, !keepRunning, force, "x", null]);
        return rows[0];
      },
    },
    async reportAtMost(rolloutId, groupId, n, outcome) {
      await end(rolloutId, groupId, n, outcome);
    },
    async report(rolloutId, groupId, n, outcome) {
      const until = Date.now() + startLimitMs;
      for (let left = n; left > 0; ) {
        left -= await end(rolloutId, groupId, left, outcome);
        if (left > 0 && Date.now() > until) throw new Error(`${left} of the ${n} actions that are to end do not run`);
        if (left > 0) await setTimeout(20);
      }
    },
    async watch(rolloutId, groupId, n, what) {
      const { from, was, status, tally } = watchedSteps[what];
      await pool.query(watchActions, [tenantId, rolloutId, groupId, n, from, was, status, tally]);
    },
    async deleteTargets(rolloutId, groupId, n) {
      await pool.query(deleteTargets, [tenantId, rolloutId, groupId, n]);
    },
  };
  return double;
}

const scheduleChunk = `
  with page as (
    select ordinal, target_id from rollout_engine.group_members_v1
     where tenant_id = $1 and rollout_id = $2 and group_id = $3 and ordinal > $4 order by ordinal limit $5
  ), made as (
    insert into actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, rollout_id, group_id, initiated_by,
                         created_by, last_modified_by)
    select $1, $2::bigint * 1000000 + t.id, t.id, t.controller_id, $6, 8, false, 1, $2, $3, 'x', 'x', 'x'
      from page p join targets t on t.tenant_id = $1 and t.id = p.target_id
    on conflict (tenant_id, rollout_id, target_id) where rollout_id is not null and retried_by is null do nothing
    returning 1
  ), delta as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select $1, $2, $3, null, 0, count(*) from made having count(*) > 0
  )
  select (select max(ordinal) from page) as cursor, (select count(*) from page)::int as seen, (select count(*) from made)::int as created`;

const openFence = `insert into rollout_fences as f (tenant_id, rollout_id, epoch, open) values ($1, $2, $3, true)
  on conflict (tenant_id, rollout_id) do update set epoch = excluded.epoch, open = true`;

/** Controller's own function lets the newer of two rollouts win. */
const joinChunk = `select * from join_chunk($1, 'DEFAULT', $2, $3, $4, $5, $6, $8, $7, 'set', '1', false, 1::smallint, null, 1000,
  null, null, null, null, 'x', null)`;

/** Controller's own function ends the actions of a chunk. */
const stopChunk = "select * from stop_chunk($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const startChunk = `
  with page as (
    select id, target_id from actions
     where tenant_id = $1 and rollout_id = $2 and group_id = $3 and target_id > $4 order by target_id limit $5
  ), moved as (
    update actions a set status = 3, active = true, revision = revision + 1 from page p
     where a.tenant_id = $1 and a.id = p.id and a.status = 8 returning 1
  ), delta as (
    insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
    select $1, $2, $3, 0, 1, count(*) from moved having count(*) > 0
  )
  select (select max(target_id) from page) as cursor, (select count(*) from page)::int as seen, (select count(*) from moved)::int as started`;

const running = `select id, target_id, action_bucket(status, force_type, tally) as bucket from actions
     where tenant_id = $1 and rollout_id = $2 and group_id = $3 and status = 3 order by target_id limit $4`;

const endActions = `
  with ended as (
    update actions a set status = $5, active = false, tally = 0, revision = revision + 1 from (${running}) r
     where a.tenant_id = $1 and a.id = r.id returning 1
  )
  insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
  select $1, $2, $3, 1, $6, count(*) from ended having count(*) > 0
  returning n::int`;

const deleteTargets = `
  with gone as (
    delete from targets t using (${running}) r where t.tenant_id = $1 and t.id = r.target_id returning t.id, r.bucket
  ), actions_gone as (
    delete from actions a using gone where a.tenant_id = $1 and a.target_id = gone.id
  )
  insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
  select $1, $2, $3, bucket, null, count(*) from gone group by bucket`;

const watchActions = `
  with happened as (
    update actions a set status = $7::smallint, active = $7::smallint = 3, tally = $8, revision = revision + 1
      from (select id from actions where tenant_id = $1 and rollout_id = $2 and group_id = $3 and status = $6::smallint and tally = any($5::smallint[])
             order by target_id limit $4) r
     where a.tenant_id = $1 and a.id = r.id returning a.force_type
  )
  insert into group_deltas (tenant_id, rollout_id, group_id, from_bucket, to_bucket, n)
  select $1, $2, $3, action_bucket($6::smallint, force_type), action_bucket($7::smallint, force_type), count(*) from happened
   where $6::smallint <> $7::smallint group by force_type`;
