/** Joins `p.counts`, the number of actions in each bucket over the groups `g` of the row `t` that the predicate selects. */
export const progressWhere = (predicate: string): string => `left join lateral (
  select json_build_object('scheduled', coalesce(sum(scheduled), 0), 'running', coalesce(sum(running), 0),
           'finished', coalesce(sum(finished), 0), 'error', coalesce(sum(error), 0), 'cancelled', coalesce(sum(cancelled), 0), 'proving', coalesce(sum(proving), 0),
           'silent', coalesce(sum(silent), 0), 'retrying', coalesce(sum(retrying), 0)) as counts
    from controller.group_progress_v1 g
   where g.tenant_id = t.tenant_id and ${predicate}) p on true`;
