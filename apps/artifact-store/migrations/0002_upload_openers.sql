-- expand
-- Who opened an upload in parts: one user must not have all of a tenant's places, and whoever looks for room sees whose they are. Uploads that the
-- release before opened have none: they are nobody's places.
alter table resumable_uploads add column opened_by text;

-- Finds the uploads of a tenant that count and are listed, beside those that became artifacts on the same day.
create index resumable_uploads_unfinished on resumable_uploads (tenant_id, created_at, id) where state <> 'attached';
