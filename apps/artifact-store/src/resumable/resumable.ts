import { randomUUID } from "node:crypto";
import { run, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { suspectBlob } from "../blobs/blobs.sql.ts";
import { type BlobDeps, changeHolders, sweepBlob } from "../blobs/blobs.ts";
import { partSize, stagingKey } from "../storage/storage.ts";
import { type Lease, leaseMs } from "../upload/lease.ts";
import {
  type ClaimedRow,
  claimResumable,
  claimToEnd,
  endResumable,
  findResumable,
  type ResumableRow,
  releaseResumable,
} from "./resumable.sql.ts";

/** An upload is kept for a day after its last part. */
export const keepMs = 24 * 3_600_000;

/** The upload that a request names. */
export interface Named {
  readonly tenantId: number;
  readonly moduleId: number;
  readonly uploadId: string;
}

export type Claimed = ClaimedRow & Lease;

export function newLease({ tenantId, uploadId }: Pick<Named, "tenantId" | "uploadId">): Lease {
  return { tenantId, id: uploadId, leaseId: randomUUID() };
}

/** @throws HarrierError entityNotFound for an upload that is unknown, expired or of another module. */
export async function getUpload({ db }: Pick<BlobDeps, "db">, { tenantId, uploadId, moduleId }: Named): Promise<ResumableRow> {
  const row = await runOne(db.pool, findResumable, [tenantId, uploadId, moduleId]);
  if (row === undefined) throw entityNotFound("ArtifactUpload", uploadId);
  return row;
}

/**
 * Makes the request the only writer of an open upload that has received exactly `offset` bytes.
 * @throws HarrierError entityNotFound; uploadOffset (409) with the offset that is right; tooManyRequests while another request writes.
 */
export async function claimAt(deps: Pick<BlobDeps, "db">, named: Named, offset: number): Promise<Claimed> {
  const lease = newLease(named);
  const claimed = await runOne(deps.db.pool, claimResumable, [lease.tenantId, lease.id, lease.leaseId, named.moduleId, offset, leaseMs]);
  if (claimed !== undefined) return { ...claimed, ...lease };
  const row = await getUpload(deps, named);
  if (row.received !== offset || row.state !== "open") throw wrongOffset(row);
  throw busy();
}

/** Creates the error for a part, or a completion, that does not continue what is stored. */
export function wrongOffset({ received, size }: Pick<ResumableRow, "received" | "size">): HarrierError {
  const message = received < size ? `The upload continues at offset ${received}.` : "The upload has all its bytes.";
  return new HarrierError("uploadOffset", message, { info: { offset: received } });
}

/** Creates the error for an upload that another request works on: it has ended, or has lost its lease, some seconds later. */
export function busy(): HarrierError {
  return new HarrierError("tooManyRequests", "Another request works on this upload.", { headers: { "retry-after": "3" } });
}

/** Gives the lease back after a failure; if this fails too, the lease runs out by itself. */
export async function release({ db }: Pick<BlobDeps, "db">, { tenantId, id, leaseId }: Lease): Promise<void> {
  await run(db.pool, releaseResumable, [tenantId, id, leaseId]).catch(() => {});
}

/** Returns the size of the part at an offset, in bytes: only the last one is shorter than the others. */
export function partAt({ received, size }: Pick<ResumableRow, "received" | "size">): { number: number; size: number } {
  return { number: Math.floor(received / partSize) + 1, size: Math.min(partSize, size - received) };
}

/**
 * Ends an upload that its client gives up.
 * @throws HarrierError entityNotFound; uploadOffset (409) once it is completed; tooManyRequests while another request writes.
 */
export async function cancelUpload(deps: BlobDeps, named: Named): Promise<void> {
  const lease = newLease(named);
  const claimed = await runOne(deps.db.pool, claimToEnd, [lease.tenantId, lease.id, lease.leaseId, named.moduleId, leaseMs]);
  if (claimed !== undefined) return await dropResumable(deps, { ...claimed, ...lease });
  const row = await getUpload(deps, named);
  throw row.state === "open" ? busy() : wrongOffset(row);
}

/** Removes a leased upload with its parts, and the blob that an interrupted completion may have stored. It may be repeated. */
export async function dropResumable(deps: BlobDeps, upload: Claimed): Promise<void> {
  const { tenantId, id, leaseId } = upload;
  await deps.storage.delete(stagingKey(tenantId, id));
  const { hashes } = upload;
  if (hashes === null) {
    await run(deps.db.pool, endResumable, [tenantId, id, leaseId]);
    return;
  }
  const { sha256, sha1, md5 } = hashes;
  // the blob's row is created before the lock is taken, because a missing row cannot be locked
  await run(deps.db.pool, suspectBlob, [tenantId, sha256, sha1, md5, upload.size]);
  await changeHolders(deps, { tenantId, sha256 }, async (tx) => {
    await run(tx, endResumable, [tenantId, id, leaseId]);
  });
  await sweepBlob(deps, tenantId, sha256);
}
