-- expand
-- The target types that who created a rollout was restricted to: it has members of these alone, whoever starts it. Null: not restricted.

alter table rollouts add column target_types bigint[];
