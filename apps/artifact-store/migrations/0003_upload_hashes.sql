-- expand
-- The hashes of the whole file of an upload in parts, by name, once its parts are joined. They are read from the file, or kept by the replica that
-- received every part, so there is no state of them between the parts any more (hash_states); the release before still needs that column.
alter table resumable_uploads add column hashes jsonb check (hashes ?& array['sha256', 'sha1', 'md5']);
