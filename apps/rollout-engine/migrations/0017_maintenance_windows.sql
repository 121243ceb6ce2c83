-- expand
-- Maintenance windows that rollouts and auto-assignments give to their actions: {schedule, duration, timezone}; null: any time.
alter table rollouts add column maintenance_window jsonb;
alter table target_filters add column auto_assign_window jsonb;
