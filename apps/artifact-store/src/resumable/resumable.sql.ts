import { statement } from "@harrier/db";
import type { BlobHashes } from "../blobs/blobs.sql.ts";

type Key = [tenantId: number, uploadId: string];
type Lease = [...Key, leaseId: string];

export type ResumableState = "open" | "attaching" | "attached";

/** What clients see of an upload. */
export interface ResumableRow {
  readonly id: string;
  readonly state: ResumableState;
  readonly moduleId: number;
  readonly filename: string;
  readonly size: number;
  readonly received: number;
  readonly artifactId: number | null;
  /** Null for an upload that a release before opened. */
  readonly openedBy: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What a writer needs beside it. */
export interface ClaimedRow extends ResumableRow {
  readonly given: Readonly<Record<string, string>>;
  /** Of the whole file, once it is joined; this release stores nothing under them before. */
  readonly hashes: Omit<BlobHashes, "size"> | null;
  readonly place: string | null;
  readonly interruptions: number;
}

const seen = `u.id, u.state, u.module_id as "moduleId", u.filename, u.size, u.received, u.artifact_id as "artifactId",
  u.opened_by as "openedBy", (extract(epoch from u.created_at) * 1000)::bigint as "createdAt",
  (extract(epoch from u.expires_at) * 1000)::bigint as "expiresAt"`;
const claimed = `${seen}, u.given, u.hashes, u.place, u.interruptions`;

/** Serialises the opening of a tenant's uploads until the transaction ends, so that two of them cannot both take the last place. */
export const lockOpening = statement<[tenantId: number], never>(
  "artifact_store.lock_opening",
  "select pg_advisory_xact_lock(hashtextextended('artifact-store resumable uploads ' || $1::int, 0))",
);

/** Counts a tenant's unfinished uploads, those of one user among them, and the bytes that they may grow to. */
export const countOpen = statement<[tenantId: number, openedBy: string], { uploads: number; own: number; bytes: number }>(
  "artifact_store.count_open",
  `select count(*)::int as uploads, (count(*) filter (where opened_by = $2))::int as own, coalesce(sum(size), 0)::bigint as bytes
     from resumable_uploads where tenant_id = $1 and state <> 'attached'`,
);

/** Lists a tenant's unfinished uploads, the oldest first; also those that are over and that the janitor has not removed yet, because they count. */
export const listUnfinished = statement<[tenantId: number, limit: number], ResumableRow>(
  "artifact_store.list_unfinished",
  `select ${seen}
     from resumable_uploads u
    where u.tenant_id = $1 and u.state <> 'attached'
    order by u.created_at, u.id limit $2`,
);

export const openResumable = statement<
  [...Key, moduleId: number, filename: string, size: number, given: string, keepMs: number, openedBy: string],
  ResumableRow
>(
  "artifact_store.open_resumable",
  `insert into resumable_uploads as u (tenant_id, id, module_id, filename, size, given, expires_at, opened_by)
   values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 millisecond', $8)
   returning ${seen}`,
);

export const findResumable = statement<[...Key, moduleId: number], ResumableRow>(
  "artifact_store.find_resumable",
  `select ${seen} from resumable_uploads u where u.tenant_id = $1 and u.id = $2 and u.module_id = $3 and u.expires_at > now()`,
);

/**
 * Makes the caller the only writer of an open upload that has received exactly `offset` bytes; no row if it is not so, or another one writes.
 * A lease that ran out was not given back: its owner may still be writing, which `interruptions` tells the storage.
 */
export const claimResumable = statement<[...Lease, moduleId: number, offset: number, leaseMs: number], ClaimedRow>(
  "artifact_store.claim_resumable",
  `update resumable_uploads u
      set interruptions = u.interruptions + (u.lease_id is not null)::int, lease_id = $3, lease_until = now() + $6 * interval '1 millisecond'
    where u.tenant_id = $1 and u.id = $2 and u.module_id = $4 and u.received = $5 and u.state = 'open' and u.expires_at > now()
      and (u.lease_id is null or u.lease_until < now())
   returning ${claimed}`,
);

export const renewResumable = statement<[...Lease, leaseMs: number], never>(
  "artifact_store.renew_resumable",
  `update resumable_uploads set lease_until = now() + $4 * interval '1 millisecond' where tenant_id = $1 and id = $2 and lease_id = $3`,
);

/** Gives the lease back. */
export const releaseResumable = statement<Lease, never>(
  "artifact_store.release_resumable",
  "update resumable_uploads set lease_id = null, lease_until = null where tenant_id = $1 and id = $2 and lease_id = $3",
);

/**
 * Makes a stored part count, and gives the lease back. It keeps the upload for a further while. The release before must not go on with states of hashes
 * that do not have this part in them: it refuses these.
 */
export const commitPart = statement<
  [...Lease, received: number, place: string, number: number, receipt: string, keepMs: number],
  { expiresAt: number }
>(
  "artifact_store.commit_part",
  `with moved as (
     update resumable_uploads set received = $4, hash_states = '\\x00', place = $5, lease_id = null, lease_until = null,
       expires_at = now() + $8 * interval '1 millisecond'
      where tenant_id = $1 and id = $2 and lease_id = $3
     returning tenant_id, id, expires_at
   ), part as (
     insert into upload_parts (tenant_id, upload_id, number, receipt) select tenant_id, id, $6, $7 from moved
   )
   select (extract(epoch from expires_at) * 1000)::bigint as "expiresAt" from moved`,
);

/** Lists what the storage said of the parts, in their order; there are at most ten thousand. */
export const listReceipts = statement<Key, { receipt: string }>(
  "artifact_store.list_receipts",
  "select receipt from upload_parts where tenant_id = $1 and upload_id = $2 order by number limit 10000",
);

/** Saves the hashes of a file that is joined; no row is changed if the lease is lost. */
export const saveHashes = statement<[...Lease, hashes: string], never>(
  "artifact_store.save_hashes",
  "update resumable_uploads set hashes = $4 where tenant_id = $1 and id = $2 and lease_id = $3",
);

/**
 * Lets an upload hold its blob, as `start_attaching` does for one that came in one piece: from here on its row in `uploads` is what the janitor
 * mends. The caller holds the lock of the blob.
 */
export const startAttachingResumable = statement<
  [...Lease, newLeaseId: string, sha256: string, sha1: string, md5: string, principal: string, leaseMs: number, uploader: string],
  never
>(
  "artifact_store.start_attaching_resumable",
  `with done as (
     update resumable_uploads set state = 'attaching', lease_id = null, lease_until = null, uploader = $10
      where tenant_id = $1 and id = $2 and lease_id = $3 and state = 'open' and received = size
     returning tenant_id, id, module_id, filename, size
   )
   insert into uploads (tenant_id, id, state, module_id, filename, size, sha256, sha1, md5, principal, lease_id, lease_until)
   select tenant_id, id, 'attaching', module_id, filename, size, $5, $6, $7, $8, $4, now() + $9 * interval '1 millisecond' from done`,
);

/** Deletes an upload; its parts go with it. Where it may have stored its blob, the caller holds the lock of the blob. */
export const endResumable = statement<Lease, never>(
  "artifact_store.end_resumable",
  "delete from resumable_uploads where tenant_id = $1 and id = $2 and lease_id = $3",
);

/** Leases an open upload that a client gives up, unless somebody writes to it. */
export const claimToEnd = statement<[...Lease, moduleId: number, leaseMs: number], ClaimedRow>(
  "artifact_store.claim_to_end",
  `update resumable_uploads u set lease_id = $3, lease_until = now() + $5 * interval '1 millisecond'
    where u.tenant_id = $1 and u.id = $2 and u.module_id = $4 and u.state = 'open' and (u.lease_id is null or u.lease_until < now())
   returning ${claimed}`,
);

/** Forgets expired uploads of all tenants that became artifacts: their bytes belong to those. */
export const pruneAttached = statement<[], never>(
  "artifact_store.prune_attached",
  `delete from resumable_uploads u
    using (select tenant_id, id from resumable_uploads
            where expires_at < now() and state = 'attached' order by expires_at limit 1000 for update skip locked) due
    where u.tenant_id = due.tenant_id and u.id = due.id`,
);

/** Leases expired open uploads of all tenants. Two janitors never get the same one; those that attach are left to `claim_abandoned`. */
export const claimExpired = statement<[leaseMs: number, limit: number], ClaimedRow & { tenantId: number; leaseId: string }>(
  "artifact_store.claim_expired",
  `update resumable_uploads u set lease_id = gen_random_uuid(), lease_until = now() + $1 * interval '1 millisecond'
     from (select tenant_id, id from resumable_uploads
            where expires_at < now() and state = 'open' and (lease_id is null or lease_until < now())
            order by expires_at limit $2 for update skip locked) due
    where u.tenant_id = due.tenant_id and u.id = due.id
   returning u.tenant_id as "tenantId", u.lease_id as "leaseId", ${claimed}`,
);

/** Finds the artifact that an upload became, as its view shows it; none if it is deleted. */
export const findArtifactOf = statement<
  Key,
  { id: number; createdBy: string; createdAt: number; sha256: string; sha1: string; md5: string }
>(
  "artifact_store.find_artifact_of",
  `select a.id, u.uploader as "createdBy", floor(extract(epoch from a.created_at) * 1000)::bigint as "createdAt", a.sha256, a.sha1, a.md5
     from resumable_uploads u
     join management.artifacts_v1 a on a.tenant_id = u.tenant_id and a.id = u.artifact_id
    where u.tenant_id = $1 and u.id = $2 and u.state = 'attached'`,
);
