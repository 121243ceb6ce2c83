import { statement } from "@harrier/db";

/** Lists uploads of the tenant, in one piece or in parts, whichever process works on them, so that their staged files are deleted before their rows. */
export const listUploads = statement<[tenantId: number, limit: number], { id: string }>(
  "artifact_store.list_uploads",
  "select id from uploads where tenant_id = $1 union select id from resumable_uploads where tenant_id = $1 order by id limit $2",
);

/** Deletes uploads. A process that still works on one finds its lease lost and gives up. */
export const endUploads = statement<[tenantId: number, ids: readonly string[]], never>(
  "artifact_store.end_uploads",
  `with in_parts as (delete from resumable_uploads where tenant_id = $1 and id = any($2::uuid[]))
   delete from uploads where tenant_id = $1 and id = any($2::uuid[])`,
);

/** Marks blobs of the tenant without references for the sweep. Rows are locked in the same order everywhere. */
export const markUnheld = statement<[tenantId: number, limit: number], { sha256: string }>(
  "artifact_store.mark_unheld",
  `update blobs b set state = 'deleting'
     from (select tenant_id, sha256 from blobs where tenant_id = $1 order by sha256 limit $2 for update) due
    where b.tenant_id = due.tenant_id and b.sha256 = due.sha256
      and not exists (select from blob_references r where r.tenant_id = b.tenant_id and r.sha256 = b.sha256)
   returning b.sha256`,
);
