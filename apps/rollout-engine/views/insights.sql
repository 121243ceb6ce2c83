-- Rollouts created per month, for the insights that management shows. `began_at` says since when every rollout is counted.
create or replace view rollout_months_v1 as
  select tenant_id, month, created from rollout_months;

create or replace view rollout_months_start_v1 as
  select began_at from rollout_months_start;

grant select on rollout_months_v1, rollout_months_start_v1 to harrier_management;
