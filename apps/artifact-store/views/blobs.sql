-- The blobs that can be served now.
create or replace view artifact_store.blobs_v1 as
select tenant_id, sha256, size
from artifact_store.blobs
where state = 'stored';
grant select on artifact_store.blobs_v1 to harrier_management;
