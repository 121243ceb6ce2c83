-- expand
-- Why actions of rollouts have failed (contract console.md §2): failures with the same code and folded message, by group and type of target. The
-- background work of functions/insights.sql adds them up from the outbox, so reports of devices pay nothing for them. What was folded before this
-- migration is not in it.
create table rollout_failures (
  tenant_id  int not null,
  rollout_id bigint not null,
  key        uuid not null,               -- hash of code and message
  group_id   bigint not null,
  type_id    bigint not null,             -- of the targets when it was added up, 0 for those without a type
  code       int,                         -- null: the device has given none
  message    text,                        -- null: the device has given none, or these are the others
  others     boolean not null default false, -- all that is beyond the number of rows a rollout may have
  n          bigint not null,
  first_at   timestamptz not null,
  last_at    timestamptz not null,
  sample     text[] not null,             -- controllerIds of the first ten
  primary key (tenant_id, rollout_id, key, group_id, type_id)
);
