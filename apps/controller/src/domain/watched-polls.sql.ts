/**
 * Counts polls for the watches of claims that await them (contract beyond.md §1.3). `$1`, `$2` and `$3` are the lists of tenants, targets and times of
 * the polls; it is a part of the statement that writes them. The next poll that counts is a second later, whichever replica gets it. Which of the targets
 * have such a claim is asked for all of a tenant in one pass over the index, because most have none; what is found is joined once with all that polled,
 * and not tenant by tenant. A watch that is locked is being decided right now, or counted by another replica, and is skipped.
 */
export const countWatchedPolls = `
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
   `;
