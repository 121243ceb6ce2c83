-- expand
-- The safety policy of a rollout or auto-assignment, with every default in place, as it was when it was created (contract beyond.md §1.1). Null: none.
alter table rollouts add column safety jsonb;
alter table target_filters add column auto_assign_safety jsonb;
