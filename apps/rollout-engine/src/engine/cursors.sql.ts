import { statement } from "@harrier/db";

/** Controller has confirmed the fence of this epoch. */
export const noteFence = statement<[tenantId: number, rolloutId: number, epoch: number], never>(
  "engine.note_fence",
  "update rollouts set fenced_epoch = $3 where tenant_id = $1 and id = $2 and epoch = $3 and fenced_epoch < $3",
);

/** How far the actions of a group are created. Only ever forward. */
export const noteScheduled = statement<[tenantId: number, rolloutId: number, groupId: number, cursor: number], never>(
  "engine.note_scheduled",
  `update rollout_groups set schedule_cursor = $4
    where tenant_id = $1 and rollout_id = $2 and id = $3 and schedule_cursor < $4`,
);

/** How far the actions of a group are started. Only ever forward; nothing where targets have joined meanwhile: the walk goes back to them. */
export const noteStarted = statement<
  [tenantId: number, rolloutId: number, groupId: number, cursor: number, done: boolean, lastOrdinal: number],
  never
>(
  "engine.note_started",
  `update rollout_groups set start_cursor = greatest(start_cursor, $4), started = started or $5
    where tenant_id = $1 and rollout_id = $2 and id = $3 and last_ordinal = $6 and (start_cursor < $4 or (not started and $5))`,
);

/** How far the actions of a rollout are ended. Only ever forward, and not behind the back of a deletion that has begun the walk anew. */
export const noteStopped = statement<[tenantId: number, rolloutId: number, status: string, cursor: number], never>(
  "engine.note_stopped",
  "update rollouts set stop_cursor = $4 where tenant_id = $1 and id = $2 and status = $3 and stop_cursor < $4",
);

/**
 * Sizes of groups that lost targets, and of their rollout: it is changed by the difference, and a group that is no longer as it was counted
 * is left alone, for targets may join it at the same moment. The rollout's row is locked first, as everywhere.
 */
export const storeTotals = statement<[tenantId: number, rolloutId: number, totals: string], never>(
  "engine.store_totals",
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
