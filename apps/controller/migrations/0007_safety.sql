-- expand
-- Safe rollouts (contract beyond.md §1 to §3): how a success is proven, when an action counts as silent, and when it is tried again. Without a policy no
-- row of these tables exists, and the new columns of an action stay as they are.

-- Policies with everything resolved, kept once for all actions that name them. They never change.
create table action_policies (
  tenant_id int not null,
  id        int generated always as identity,
  digest    bytea not null,              -- sha256 of the text that was given: look-up
  body      jsonb not null,              -- ResolvedPolicy of packages/contracts/src/safety-policy.ts
  primary key (tenant_id, id),
  unique (tenant_id, digest)
);

alter table actions
  add policy_id  int,                        -- null: none, and nothing below ever changes
  add tally      smallint not null default 0, -- how it counts beside its status: 0 as the status says, 1 proving, 2 void, 3 silent, 4 retrying
  add outcome    smallint,                   -- how its proof ended, and by what (packages/contracts/src/codes.ts); it stays when the watch goes
  add attempt    smallint not null default 1,
  add retry_of   bigint,                     -- the first attempt
  add retried_by bigint;                     -- the next attempt, which counts instead of this one

-- What is awaited of an action: a row while there is something to wait for. Whoever decides about it holds the lock of the target's state; only polls are
-- counted without, and skip rows that are locked. There is no foreign key to targets, as with actions.
create table action_watches (
  tenant_id       int not null,
  action_id       bigint not null,
  target_id       int not null,
  policy_id       int not null,
  stage           smallint not null,     -- 1 notFetched 2 downloading 3 installing 4 rebooting 5 observing 6 watched 7 retryWait
  silent          boolean not null default false,
  wants_polls     boolean not null default false, -- polls count, from counts_from on
  polls           smallint not null default 0,
  polls_wanted    smallint not null default 0,
  previous_set_id bigint,                -- installed before: refuted later, the target has it again
  began_at        timestamptz not null default now(),
  since           timestamptz not null default now(), -- begin of the stage
  claimed_at      timestamptz,
  counts_from     timestamptz,
  evidence_at     timestamptz,
  due_at          timestamptz,           -- null: no clock runs
  primary key (tenant_id, action_id)
) with (fillfactor = 70);
create index action_watches_due on action_watches (tenant_id, due_at) where due_at is not null;
create index action_watches_target on action_watches (tenant_id, target_id);
create index action_watches_polls on action_watches (tenant_id, target_id) where wants_polls;

-- Of the attempts for one target only the last one counts, and is the one that a repeated chunk meets.
create unique index actions_rollout_attempt on actions (tenant_id, rollout_id, target_id) where rollout_id is not null and retried_by is null;
drop index actions_rollout_target;
