import { statement } from "@harrier/db";
import type { Principal } from "@harrier/rpc";

type Lease = [tenantId: number, uploadId: string, leaseId: string];

export const beginUpload = statement<[...Lease, moduleId: number, principal: string, leaseMs: number], never>(
  "artifact_store.begin_upload",
  `insert into uploads (tenant_id, id, lease_id, module_id, principal, lease_until)
   values ($1, $2, $3, $4, $5, now() + $6 * interval '1 millisecond')`,
);

export const renewLease = statement<[...Lease, leaseMs: number], never>(
  "artifact_store.renew_lease",
  `update uploads set lease_until = now() + $4 * interval '1 millisecond' where tenant_id = $1 and id = $2 and lease_id = $3`,
);

/** Stores name and hashes of an upload. This comes before the object appears under its content address, so that the janitor can find it. */
export const describeUpload = statement<[...Lease, filename: string, size: number, sha256: string, sha1: string, md5: string], never>(
  "artifact_store.describe_upload",
  `update uploads set state = 'storing', filename = $4, size = $5, sha256 = $6, sha1 = $7, md5 = $8
    where tenant_id = $1 and id = $2 and lease_id = $3 and state = 'receiving'`,
);

/** Lets the upload hold its blob from now on. The caller holds the lock of the blob. */
export const startAttaching = statement<Lease, never>(
  "artifact_store.start_attaching",
  `update uploads set state = 'attaching' where tenant_id = $1 and id = $2 and lease_id = $3 and state = 'storing'`,
);

/** Deletes an upload, and with it the one in parts that it was. If it has a blob, the caller holds the lock of the blob. */
export const endUpload = statement<Lease, never>(
  "artifact_store.end_upload",
  `with ended as (delete from uploads where tenant_id = $1 and id = $2 and lease_id = $3 returning tenant_id, id)
   delete from resumable_uploads r using ended e where r.tenant_id = e.tenant_id and r.id = e.id`,
);

/** Ends an upload whose artifact exists; one that came in parts goes on telling of it. The caller holds the lock of the blob. */
export const endAttached = statement<[...Lease, artifactId: number], never>(
  "artifact_store.end_attached",
  `with ended as (delete from uploads where tenant_id = $1 and id = $2 and lease_id = $3 returning tenant_id, id)
   update resumable_uploads r set state = 'attached', artifact_id = $4 from ended e where r.tenant_id = e.tenant_id and r.id = e.id`,
);

/** Makes the next attempt to attach due after a pause, because the outcome of the last one is unknown. */
export const postponeUpload = statement<[...Lease, pauseMs: number, error: string], never>(
  "artifact_store.postpone_upload",
  `update uploads set lease_until = now() + $4 * interval '1 millisecond', attempts = attempts + 1, last_error = $5
    where tenant_id = $1 and id = $2 and lease_id = $3`,
);

export interface UploadRow {
  readonly tenantId: number;
  readonly id: string;
  readonly leaseId: string;
  readonly state: "receiving" | "storing" | "attaching";
  readonly moduleId: number;
  readonly filename: string | null;
  readonly size: number | null;
  readonly sha256: string | null;
  readonly sha1: string | null;
  readonly md5: string | null;
  readonly principal: Principal;
  readonly attempts: number;
  readonly ageMs: number;
}

/** Takes over uploads of all tenants whose lease has run out. Two janitors never get the same one. */
export const claimAbandoned = statement<[leaseMs: number, limit: number], UploadRow>(
  "artifact_store.claim_abandoned",
  `update uploads u set lease_id = gen_random_uuid(), lease_until = now() + $1 * interval '1 millisecond'
     from (select tenant_id, id from uploads where lease_until < now() order by lease_until limit $2 for update skip locked) due
    where u.tenant_id = due.tenant_id and u.id = due.id
   returning u.tenant_id as "tenantId", u.id, u.lease_id as "leaseId", u.state, u.module_id as "moduleId", u.filename, u.size, u.sha256,
     u.sha1, u.md5, u.principal, u.attempts, (extract(epoch from now() - u.created_at) * 1000)::bigint as "ageMs"`,
);

/** Returns which of these uploads exist, in one piece or in parts. */
export const findUploads = statement<[tenantIds: readonly number[], ids: readonly string[]], { id: string }>(
  "artifact_store.find_uploads",
  `select requested.id
     from unnest($1::int[], $2::uuid[]) as requested(tenant_id, id)
    where exists (select from uploads u where u.tenant_id = requested.tenant_id and u.id = requested.id)
       or exists (select from resumable_uploads r where r.tenant_id = requested.tenant_id and r.id = requested.id)`,
);

/**
 * Finds the artifact row that an earlier attach of this upload must have written, if management no longer has the command's answer: it has
 * the same module, name and content, and no reference yet.
 */
export const findAttached = statement<[tenantId: number, moduleId: number, filename: string, sha256: string], { id: number }>(
  "artifact_store.find_attached",
  `select a.id
     from management.artifacts_v1 a
     join management.software_modules_v1 m on m.tenant_id = a.tenant_id and m.id = a.module_id and not m.deleted
    where a.tenant_id = $1 and a.module_id = $2 and a.filename = $3 and a.sha256 = $4
      and not exists (select from blob_references r where r.tenant_id = a.tenant_id and r.artifact_id = a.id)`,
);
