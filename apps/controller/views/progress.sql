-- Exact at any time: what is folded, and every delta behind the fold. Folding moves both in one transaction, so no reader sees a gap. The
-- watermark comes by scalar sub-queries: only so is it a bound of the index, and a rollout of a million reports is not read again at every
-- poll. (They ask a CTE, which also keeps the planner from starting parallel workers for these few rows.)
-- `running` has proving, silent and retrying ones among it: the five others add up to all, as they did before there were policies.
create or replace view group_progress_v1 as
with mark as materialized (select f.txid, f.id from group_progress_folded f)
select c.tenant_id, c.rollout_id, c.group_id,
       coalesce(sum(c.n) filter (where c.bucket = 0), 0)::bigint as scheduled,
       coalesce(sum(c.n) filter (where c.bucket = 1 or c.bucket > 4), 0)::bigint as running,
       coalesce(sum(c.n) filter (where c.bucket = 2), 0)::bigint as finished,
       coalesce(sum(c.n) filter (where c.bucket = 3), 0)::bigint as error,
       coalesce(sum(c.n) filter (where c.bucket = 4), 0)::bigint as cancelled,
       coalesce(sum(c.n) filter (where c.bucket = 5), 0)::bigint as proving,
       coalesce(sum(c.n) filter (where c.bucket = 6), 0)::bigint as silent,
       coalesce(sum(c.n) filter (where c.bucket = 7), 0)::bigint as retrying
  from (
    select p.tenant_id, p.rollout_id, p.group_id, p.bucket, p.n from group_progress p
    union all
    select d.tenant_id, d.rollout_id, d.group_id, b.bucket, b.n
      from group_deltas d
      cross join lateral (values (d.to_bucket, d.n::bigint), (d.from_bucket, -d.n::bigint)) as b (bucket, n)
     where (d.txid, d.id) > ((select m.txid from mark m), (select m.id from mark m)) and b.bucket is not null
  ) c
 group by c.tenant_id, c.rollout_id, c.group_id;

-- Change feed: a row for every change of a rollout's progress, in commit order.
create or replace view group_changes_v1 as
select tenant_id, rollout_id, group_id, txid, id from group_deltas;

grant select on group_progress_v1, group_changes_v1 to harrier_management, harrier_rollout_engine;
