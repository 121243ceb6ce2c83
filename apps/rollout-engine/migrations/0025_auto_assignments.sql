-- expand
-- Auto-assignments as a resource of their own: each is a target filter that assigns a set. One that was made there, and not by a filter, is
-- shown by no list of filters. It may begin later, and pause.
alter table target_filters
  add column standalone           boolean not null default false,
  add column description          text check (length(description) <= 512),
  add column auto_assign_start_at timestamptz; -- while it is `ready`: when it begins

-- `ready` waits for its time; from then on it counts as `running`, and nobody has to write that.
alter table target_filters
  drop constraint target_filters_auto_assign_status_check,
  add constraint target_filters_auto_assign_status_check
    check (auto_assign_status in ('running', 'waiting_for_approval', 'approval_denied', 'ready', 'paused'));
