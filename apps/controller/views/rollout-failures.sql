-- Why actions of rollouts have failed, for the rollout engine's interface (contract console.md §2). A few seconds behind the reports.
create or replace view rollout_failures_v1 as
select tenant_id, rollout_id, key, group_id, type_id, code, message, others, n, first_at, last_at, sample from rollout_failures;

grant select on rollout_failures_v1 to harrier_rollout_engine;
