-- expand
-- Rollouts that wait until somebody approves them (rollouts §4.11).
alter table rollouts
  add column creator_approves   boolean not null default false, -- who created it may approve rollouts: this one needs nobody's approval
  add column approve_decided_by text,
  add column approval_remark    text;
