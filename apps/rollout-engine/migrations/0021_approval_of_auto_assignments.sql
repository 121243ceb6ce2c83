-- expand
-- Auto-assignments that wait until somebody approves them (`auto.assignment.approval.enabled`, contract management.md §8.1). One that waits
-- or was denied is not worked on; each change of its status is a new epoch, so that work that was begun before is void.
alter table target_filters
  add column auto_assign_status text not null default 'running' check (auto_assign_status in ('running', 'waiting_for_approval', 'approval_denied')),
  add column auto_assign_decided_by text,
  add column auto_assign_remark     text;
