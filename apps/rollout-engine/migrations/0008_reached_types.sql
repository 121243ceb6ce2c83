-- expand
-- Types of the targets that a rollout has as members, 0 for those without a type: who is restricted to target types sees and drives rollouts
-- that reach these alone. Null until the members are frozen, and for rollouts of the version before: then what their creator was restricted to.

alter table rollouts add column reached_types bigint[];
