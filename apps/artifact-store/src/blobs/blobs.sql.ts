import { statement } from "@harrier/db";

export interface BlobHashes {
  readonly sha256: string;
  readonly sha1: string;
  readonly md5: string;
  readonly size: number;
}

type Blob = [tenantId: number, sha256: string, sha1: string, md5: string, size: number];

/** Creates the blob's row, or marks it as stored again, and locks it until the transaction ends. */
export const holdBlob = statement<Blob, { sha256: string }>(
  "artifact_store.hold_blob",
  `insert into blobs (tenant_id, sha256, sha1, md5, size, state) values ($1, $2, $3, $4, $5, 'stored')
   on conflict (tenant_id, sha256) do update set state = 'stored'
   returning sha256`,
);

/** Gives the object that an upload may have left a row, so that the sweep finds it. It is for uploads that end before they held their blob. */
export const suspectBlob = statement<Blob, never>(
  "artifact_store.suspect_blob",
  `insert into blobs (tenant_id, sha256, sha1, md5, size, state) values ($1, $2, $3, $4, $5, 'deleting')
   on conflict (tenant_id, sha256) do nothing`,
);

export const lockBlob = statement<[tenantId: number, sha256: string], { sha256: string }>(
  "artifact_store.lock_blob",
  "select sha256 from blobs where tenant_id = $1 and sha256 = $2 for update",
);

/** Locks a blob that nothing has held for so long; no row if it is held, or was held more recently. */
export const lockUnheld = statement<[tenantId: number, sha256: string, keepMs: number], { sha256: string }>(
  "artifact_store.lock_unheld",
  `select sha256 from blobs
    where tenant_id = $1 and sha256 = $2 and state = 'deleting' and unheld_at <= now() - $3 * interval '1 millisecond' for update`,
);

const unheld = `not exists (select from blob_references r where r.tenant_id = b.tenant_id and r.sha256 = b.sha256)
   and not exists (select from uploads u where u.tenant_id = b.tenant_id and u.sha256 = b.sha256 and u.state = 'attaching')`;

/** Marks a blob for the sweep if nothing holds it. The caller holds the lock of the row. */
export const markIfUnheld = statement<[tenantId: number, sha256: string], never>(
  "artifact_store.mark_if_unheld",
  `update blobs b set state = 'deleting', unheld_at = now() where b.tenant_id = $1 and b.sha256 = $2 and b.state = 'stored' and ${unheld}`,
);

/** Deletes the row of a blob whose object has been deleted. The caller holds the lock of the row. */
export const forgetBlob = statement<[tenantId: number, sha256: string], never>(
  "artifact_store.forget_blob",
  "delete from blobs where tenant_id = $1 and sha256 = $2 and state = 'deleting'",
);

/** Lists blobs of all tenants that nothing has held for so long, for the janitor to sweep. */
export const listDeleting = statement<[limit: number, keepMs: number], { tenantId: number; sha256: string }>(
  "artifact_store.list_deleting",
  `select tenant_id as "tenantId", sha256 from blobs
    where state = 'deleting' and unheld_at <= now() - $2 * interval '1 millisecond' order by unheld_at limit $1`,
);

/** Removes an artifact's reference, or leaves a mark for the upload that is about to add it. The caller holds the lock of the blob. */
export const removeReference = statement<[tenantId: number, artifactId: number, sha256: string], never>(
  "artifact_store.remove_reference",
  `with removed as (
     delete from blob_references where tenant_id = $1 and artifact_id = $2 and sha256 = $3 returning artifact_id
   )
   insert into released_artifacts (tenant_id, artifact_id)
   select $1, $2 where not exists (select from removed)
   on conflict (tenant_id, artifact_id) do nothing`,
);

/** Adds an artifact's reference unless the artifact has been released meanwhile. The caller holds the lock of the blob. */
export const addReference = statement<[tenantId: number, artifactId: number, sha256: string], never>(
  "artifact_store.add_reference",
  `insert into blob_references (tenant_id, artifact_id, sha256)
   select $1, $2, $3 where not exists (select from released_artifacts where tenant_id = $1 and artifact_id = $2)
   on conflict (tenant_id, artifact_id) do nothing`,
);

/**
 * Removes marks of released artifacts that no upload can need any more: an upload needs only marks younger than itself. A week is far
 * longer than an upload takes to learn the outcome of its command.
 */
export const pruneReleased = statement<[], never>(
  "artifact_store.prune_released",
  `delete from released_artifacts a
    where a.at < now() - interval '7 days'
      and not exists (select from uploads u where u.tenant_id = a.tenant_id and u.state = 'attaching' and u.created_at < a.at)`,
);

export const findBlob = statement<[tenantId: number, sha256: string], { size: number }>(
  "artifact_store.find_blob",
  "select size from blobs where tenant_id = $1 and sha256 = $2 and state = 'stored'",
);
