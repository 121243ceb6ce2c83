import { statement } from "@harrier/db";
import { notifyPolled } from "../domain/change-feed.sql.ts";

type LastPollColumns = [tenantIds: number[], targetIds: number[], polledAt: number[]];

const asGiven = "unnest($1::int[], $2::int[], $3::float8[]) as u (tenant_id, target_id, polled_at)";

function writing(from: string): string {
  return `with written as (
     insert into target_polls as p (tenant_id, target_id, last_poll_at)
     select u.tenant_id, u.target_id, to_timestamp(u.polled_at / 1000)
       from ${from}
      order by u.tenant_id, u.target_id
     on conflict (tenant_id, target_id) do update set last_poll_at = greatest(p.last_poll_at, excluded.last_poll_at)
   ), counted as (
     update action_watches w
        set polls = w.polls + 1, stage = 5, counts_from = p.polled_at + interval '1 second', since = case when w.stage = 4 then now() else w.since end,
            evidence_at = coalesce(w.evidence_at, now()), wants_polls = w.polls + 1 < w.polls_wanted,
            due_at = case when w.polls + 1 < w.polls_wanted then w.due_at else now() end
       from (select c.tenant_id, c.action_id, to_timestamp(u.polled_at / 1000) as polled_at
               from (select x.*
                       from (select i.tenant_id, array_agg(i.target_id) as targets from unnest($1::int[], $2::int[]) as i (tenant_id, target_id)
                              where exists (select from action_watches where wants_polls)
                              group by i.tenant_id) t
                      cross join lateral (
                        select o.tenant_id, o.action_id, o.target_id, o.counts_from from action_watches o
                         where o.tenant_id = t.tenant_id and o.target_id = any (t.targets) and o.wants_polls
                        offset 0) x
                     offset 0) c
               join unnest($1::int[], $2::int[], $3::float8[]) as u (tenant_id, target_id, polled_at)
                 on u.tenant_id = c.tenant_id and u.target_id = c.target_id and c.counts_from <= to_timestamp(u.polled_at / 1000)) p
       join lateral (
         select x.tenant_id, x.action_id from action_watches x
          where x.tenant_id = p.tenant_id and x.action_id = p.action_id and x.wants_polls and x.counts_from <= p.polled_at
            for update skip locked) l on true
      where w.tenant_id = l.tenant_id and w.action_id = l.action_id
   )
   ${notifyPolled(
     "d.tenant_id",
     `from (select distinct u.tenant_id from unnest($1::int[]) as u (tenant_id)) d
    where exists (select from rollout_engine.target_filters_v1 f
                   where f.tenant_id = d.tenant_id and f.auto_assign_set_id is not null and f.asks_polls)`,
   )}`;
}

/**
 * Writes many last polls at once. They are sorted by id, so that two replicas cannot deadlock; GREATEST keeps the later of two, whichever
 * is written last. What is awaited of claims counts polls here (contract beyond.md §1.3); the next one that counts is a second later, whichever replica
 * gets it. Which of the targets have such a claim is asked for all of a tenant in one pass over the index, because most have none; what is found is
 * joined once with all that polled, and not tenant by tenant. A watch that is locked is being decided right now, or counted by another replica, and is
 * skipped. The join with targets drops devices that were deleted since they polled. Filters are notified only where one with auto-assignment queries the
 * last poll.
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
