-- expand
-- Rollouts that are being stopped (rollouts §4.1, §4.9).
alter table rollouts
  add column keep_running boolean not null default false, -- what has begun goes on: only what has not is taken back
  add column stop_cursor  int not null default -1;        -- last target whose action was stopped: a killed engine's successor goes on here
