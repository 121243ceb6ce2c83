-- expand
-- Blobs that nothing holds may be kept for a while, so that a backup of the database still finds their objects (HARRIER_ARTIFACT_KEEP_DAYS).

-- Since when nothing holds a blob in state `deleting`. What a refused upload may have left was never held, and need not be kept.
alter table blobs add column unheld_at timestamptz not null default '-infinity';
create index blobs_due on blobs (unheld_at) where state = 'deleting';
drop index blobs_deleting;
