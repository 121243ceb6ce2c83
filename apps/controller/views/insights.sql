-- What insights show of targets and actions (contract management.md §10.6), counted since `began_at`. A month in which more successes turned out to be
-- none than there were new ones has none. `targets_found` is 0 and there for the release before (ADR 56).
create or replace view monthly_counts_v1 as
select tenant_id, month, targets_created, targets_deleted, targets_found, actions_created,
       greatest(actions_finished, 0) as actions_finished, actions_error, actions_canceled
  from monthly_counts;

create or replace view monthly_counts_start_v1 as
select began_at from monthly_counts_folded;

-- Targets by update status, installed set, assigned set, and overdue ones (kind 0 to 3), by type, at the end of the last whole walk.
create or replace view fleet_counts_v1 as
select tenant_id, kind, key, type_id, n from fleet_counts where n > 0;

create or replace view fleet_walks_v1 as
select tenant_id, counted_at from fleet_walks;

-- Targets by installed and assigned set (kind 1 and 2), by type, at the end of the last whole walk of each day.
create or replace view fleet_days_v1 as
select tenant_id, kind, day, key, type_id, n from fleet_days;

create or replace view fleet_day_walks_v1 as
select tenant_id, day, counted_at from fleet_day_walks;

grant select on monthly_counts_v1, monthly_counts_start_v1, fleet_counts_v1, fleet_walks_v1, fleet_days_v1, fleet_day_walks_v1
  to harrier_management;
