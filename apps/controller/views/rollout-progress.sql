-- How the progress of rollouts has changed, for the rollout engine's interface (contract console.md §2): what a bucket gained or lost in the step that
-- begins at `minute` (since 1970-01-01 UTC), and without a minute what it has in all, as of the same fold. A few seconds behind the reports.
create or replace view rollout_progress_v1 as
select tenant_id, rollout_id, minute, case when bucket > 4 then 1 else bucket end::smallint as bucket, n from rollout_progress
union all
select p.tenant_id, p.rollout_id, null, case when p.bucket > 4 then 1 else p.bucket end::smallint, sum(p.n)::bigint
  from group_progress p group by 1, 2, 4;

grant select on rollout_progress_v1 to harrier_rollout_engine;
