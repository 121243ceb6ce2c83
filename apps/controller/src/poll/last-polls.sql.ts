import { statement } from "@harrier/db";
import { notifyPolled } from "../domain/change-feed.sql.ts";
import { countWatchedPolls } from "../domain/watched-polls.sql.ts";

type LastPollColumns = [tenantIds: number[], targetIds: number[], polledAt: number[]];

const asGiven = "unnest($1::int[], $2::int[], $3::float8[]) as u (tenant_id, target_id, polled_at)";

function writing(from: string): string {
  return `with written as (
     insert into target_polls as p (tenant_id, target_id, last_poll_at)
     select u.tenant_id, u.target_id, to_timestamp(u.polled_at / 1000)
       from ${from}
      order by u.tenant_id, u.target_id
     on conflict (tenant_id, target_id) do update set last_poll_at = greatest(p.last_poll_at, excluded.last_poll_at)
   ), counted as (${countWatchedPolls})
   ${notifyPolled(
     "d.tenant_id",
     `from (select distinct u.tenant_id from unnest($1::int[]) as u (tenant_id)) d
    where exists (select from rollout_engine.target_filters_v1 f
                   where f.tenant_id = d.tenant_id and f.auto_assign_set_id is not null and f.asks_polls)`,
   )}`;
}

/**
 * Writes many last polls at once. They are sorted by id, so that two replicas cannot deadlock; GREATEST keeps the later of two, whichever
 * is written last. The same statement counts polls for watches (domain/watched-polls.sql.ts). The join with targets drops devices that were deleted since
 * they polled. Filters are notified only where one with auto-assignment queries the last poll.
 */
export const writeLastPolls = statement<LastPollColumns, never>(
  "controller.write_last_polls",
  writing(`${asGiven} where exists (select from targets t where t.tenant_id = u.tenant_id and t.id = u.target_id)`),
);

/**
 * The same with the targets locked, so that none of them can be deleted between the check and the write. It costs one row lock per target,
 * so it is used only for a batch in which this has happened.
 */
export const writeLastPollsLocked = statement<LastPollColumns, never>(
  "controller.write_last_polls_locked",
  writing(`(select u.tenant_id, u.target_id, u.polled_at
               from ${asGiven}
               join targets t on t.tenant_id = u.tenant_id and t.id = u.target_id
              order by t.tenant_id, t.id for key share of t) u`),
);
