import { statement } from "@harrier/db";

/** Records that controller has confirmed the fence of this epoch. */
export const recordFence = statement<[tenantId: number, rolloutId: number, epoch: number], never>(
  "rollout_engine.record_fence",
  "update rollouts set fenced_epoch = $3 where tenant_id = $1 and id = $2 and epoch = $3 and fenced_epoch < $3",
);

/** Records how far the actions of a group are created; the cursor only moves forward. */
export const recordScheduled = statement<[tenantId: number, rolloutId: number, groupId: number, cursor: number], never>(
  "rollout_engine.record_scheduled",
  `update rollout_groups set schedule_cursor = $4
    where tenant_id = $1 and rollout_id = $2 and id = $3 and schedule_cursor < $4`,
);

/**
 * Records how far the actions of a group are started; the cursor only moves forward. Nothing is recorded if targets have joined meanwhile, because
 * the walk goes back to them.
 */
export const recordStarted = statement<
  [tenantId: number, rolloutId: number, groupId: number, cursor: number, done: boolean, lastOrdinal: number],
  never
>(
  "rollout_engine.record_started",
  `update rollout_groups set start_cursor = greatest(start_cursor, $4), started = started or $5
    where tenant_id = $1 and rollout_id = $2 and id = $3 and last_ordinal = $6 and (start_cursor < $4 or (not started and $5))`,
);

/**
 * Records how far the actions of a rollout are ended; the cursor only moves forward. Nothing is recorded if a deletion has restarted the walk
 * meanwhile.
 */
export const recordStopped = statement<[tenantId: number, rolloutId: number, status: string, cursor: number], never>(
  "rollout_engine.record_stopped",
  "update rollouts set stop_cursor = $4 where tenant_id = $1 and id = $2 and status = $3 and stop_cursor < $4",
);

/**
 * Stores the sizes of groups that lost targets, and changes the size of their rollout by the difference. A group whose size has changed since it
 * was counted is left alone, because targets may join it at the same moment. The rollout's row is locked first, as in every statement.
 */
export const storeTotals = statement<[tenantId: number, rolloutId: number, totals: string], never>(
  "rollout_engine.store_totals",
  `with locked as materialized (
     select tenant_id, id from rollouts where tenant_id = $1 and id = $2 for no key update
   ), resized as (
     update rollout_groups g set total_targets = v.total
       from locked l, jsonb_to_recordset($3::jsonb) as v("groupId" bigint, total int, was int)
      where g.tenant_id = l.tenant_id and g.rollout_id = l.id and g.id = v."groupId" and g.total_targets = v.was
     returning v.total - v.was as more
   )
   update rollouts r set total_targets = r.total_targets + (select sum(more) from resized)
    where r.tenant_id = $1 and r.id = $2 and exists (select from resized)`,
);
