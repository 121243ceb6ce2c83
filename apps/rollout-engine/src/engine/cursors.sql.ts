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

/** How far the actions of a group are started. Only ever forward. */
export const noteStarted = statement<[tenantId: number, rolloutId: number, groupId: number, cursor: number, done: boolean], never>(
  "engine.note_started",
  `update rollout_groups set start_cursor = greatest(start_cursor, $4), started = started or $5
    where tenant_id = $1 and rollout_id = $2 and id = $3 and (start_cursor < $4 or (not started and $5))`,
);

/** How far the actions of a rollout are ended. Only ever forward, and not behind the back of a deletion that has begun the walk anew. */
export const noteStopped = statement<[tenantId: number, rolloutId: number, status: string, cursor: number], never>(
  "engine.note_stopped",
  "update rollouts set stop_cursor = $4 where tenant_id = $1 and id = $2 and status = $3 and stop_cursor < $4",
);

/** Sizes of groups that lost targets, and of their rollout. */
export const storeTotals = statement<[tenantId: number, rolloutId: number, totals: string], never>(
  "engine.store_totals",
  `with given as (
     select x."groupId", x.total from jsonb_to_recordset($3::jsonb) as x("groupId" bigint, total int)
   ), resized as (
     update rollout_groups g set total_targets = v.total
       from given v where g.tenant_id = $1 and g.rollout_id = $2 and g.id = v."groupId"
   )
   update rollouts r
      set total_targets = (select sum(coalesce(v.total, g.total_targets))
                             from rollout_groups g left join given v on v."groupId" = g.id
                            where g.tenant_id = $1 and g.rollout_id = $2)
    where r.tenant_id = $1 and r.id = $2`,
);
