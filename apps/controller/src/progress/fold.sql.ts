import { statement } from "@harrier/db";

/**
 * Folds the deltas behind the watermark, in all and by the minute in which they came, as far as no older transaction still runs, and moves the watermark, in one statement: a reader of
 * group_progress_v1 sees either both or neither. The number of deltas at a time is limited, so that it never holds its row for long.
 */
export const foldDeltas = statement<[limit: number], { folded: number }>(
  "controller.fold_deltas",
  `with mark as (
     select txid, id from group_progress_folded for update
   ), part as materialized (
     select d.tenant_id, d.rollout_id, d.group_id, d.from_bucket, d.to_bucket, d.n, d.txid, d.id, floor(extract(epoch from d.at) / 60)::int as minute
       from group_deltas d
      where (d.txid, d.id) > ((select txid from mark), (select id from mark)) and d.txid < pg_snapshot_xmin(pg_current_snapshot())
      order by d.txid, d.id limit $1
   ), changes as (
     select tenant_id, rollout_id, group_id, bucket, minute, sum(n) as n
       from (select tenant_id, rollout_id, group_id, minute, to_bucket as bucket, n::bigint as n from part where to_bucket is not null
             union all
             select tenant_id, rollout_id, group_id, minute, from_bucket, -n::bigint from part where from_bucket is not null) b
      group by 1, 2, 3, 4, 5
   ), series as (
     insert into rollout_progress as p (tenant_id, rollout_id, minute, bucket, n)
     select tenant_id, rollout_id, minute, bucket, sum(n) from changes group by 1, 2, 3, 4
     on conflict (tenant_id, rollout_id, minute, bucket) do update set n = p.n + excluded.n
   ), folded as (
     insert into group_progress as p (tenant_id, rollout_id, group_id, bucket, n)
     select tenant_id, rollout_id, group_id, bucket, sum(n) from changes group by 1, 2, 3, 4
     on conflict (tenant_id, rollout_id, group_id, bucket) do update set n = p.n + excluded.n
   ), moved as (
     update group_progress_folded f set txid = last.txid, id = last.id
       from (select txid, id from part order by txid desc, id desc limit 1) last
   )
   select count(*) as folded from part`,
);
