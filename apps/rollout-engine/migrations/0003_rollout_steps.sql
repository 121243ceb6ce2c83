-- expand
-- What has happened to rollouts and their groups, one row per change of a status (contract console.md §2, timeline). A row is written by the
-- statement that changes the status and has the sequence of its event, so nothing has to be derived from events later. There is no row of what
-- happened before this migration.
create table rollout_steps (
  tenant_id       int not null,
  rollout_id      bigint not null,
  sequence        int not null,
  group_id        bigint,                 -- null: of the rollout itself
  previous_status text,                   -- null: it was created
  status          text not null,
  reason          text,
  caused_by       bigint,                 -- the group that caused a change of the rollout
  value           real,                   -- what was compared with `threshold`, in its unit (percent of the group, or groups)
  threshold       real,
  actor           text not null,
  remark          text,
  total_targets   int,
  counts          jsonb,                  -- actions by bucket at that moment; null: it had none yet
  at              timestamptz not null default now(),
  primary key (tenant_id, rollout_id, sequence),
  foreign key (tenant_id, rollout_id) references rollouts on delete cascade
);

-- The step that led to the present status, so that a list needs one row of rollout_steps per rollout. The release before does not write it.
alter table rollouts
  add column status_step int,
  add column started_at  timestamptz,
  add column finished_at timestamptz;
alter table rollout_groups
  add column started_at  timestamptz,
  add column finished_at timestamptz;
