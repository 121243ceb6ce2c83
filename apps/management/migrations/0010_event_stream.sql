-- expand
-- How far the events of a tenant have been published to its virtual host (SIE), and which replica publishes them. A tenant that enabled it before this
-- migration has no position yet: its stream begins with what happens from now on.
alter table messaging
  add column sie_position      text,                  -- the cursor of events behind which the next publication begins
  add column sie_attempts      int not null default 0, -- failures in a row
  add column sie_failing_since timestamptz,
  add column sie_due_at        timestamptz not null default now(),
  add column sie_notifications int not null default 0, -- grows when there may be events, so that whoever publishes meanwhile looks again
  add column sie_owner         uuid,                  -- who publishes now, until the lease ends
  add column sie_leased_until  timestamptz;
