import { randomUUID } from "node:crypto";
import type { UploadFields } from "@harrier/contracts";
import { run, runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { partSize, stagingKey } from "../storage/storage.ts";
import { attachWithRetries, checkUpload, type Uploading, type UploadingDeps } from "../upload/attach-with-retries.ts";
import { keepLease, leaseMs } from "../upload/lease.ts";
import { tooLarge } from "../upload/measure.ts";
import { holdStaged, type UploadContent } from "../upload/store.ts";
import { findMismatch, type UploadedArtifact } from "../upload/upload-artifact.ts";
import { resumeHashes } from "./hash-states.ts";
import { findArtifactOf, listReceipts, type ResumableRow, renewResumable, startAttachingResumable } from "./resumable.sql.ts";
import { type Claimed, claimAt, dropResumable, getUpload, type Named, release, wrongOffset } from "./resumable.ts";

export interface CompleteDeps extends Omit<UploadingDeps, "fault"> {
  readonly fault: (
    name: "artifact-store.complete.after-join" | "artifact-store.complete.after-commit" | "artifact-store.upload.after-attach",
  ) => void | Promise<void>;
}

export interface CompleteOrder extends Uploading {
  readonly uploadId: string;
  /** The hashes that the file must have, beside those that were given when the upload was opened. */
  readonly given: Omit<UploadFields, "filename">;
}

/**
 * Makes an artifact of an upload that has all its bytes. It may be repeated: before the upload holds its blob a crash leaves it open, afterwards the
 * janitor ends it, and once there is an artifact every repetition answers it.
 * @throws HarrierError entityNotFound; uploadOffset (409) while bytes are missing; checksum… for a file that has not the hashes that were given, which
 * ends the upload; what forbids the artifact (contract management.md §4.3); tooManyRequests and unavailable while it is being completed.
 */
export async function completeUpload(deps: CompleteDeps, order: CompleteOrder): Promise<UploadedArtifact> {
  const { uploadId } = order;
  const named = { tenantId: order.principal.tenantId, moduleId: order.moduleId, uploadId };
  const row = await getUpload(deps, named);
  if (row.state === "attached") return await artifactOf(deps, named, row);
  if (row.state === "attaching") throw attaching();
  if (row.received < row.size) throw wrongOffset(row);
  const upload = await claimAt(deps, named, row.size);
  const leaseId = randomUUID();
  const content = await hold(deps, order, { upload, leaseId });
  const pending = { tenantId: named.tenantId, id: uploadId, leaseId, ...content, moduleId: order.moduleId, attempts: 0 };
  using _lease = keepLease(deps.db, pending);
  return { ...content, ...(await attachWithRetries(deps, order, pending)) };
}

/** Checks the file, makes it one object, and lets the upload hold its blob. */
async function hold(deps: CompleteDeps, order: CompleteOrder, to: { upload: Claimed; leaseId: string }): Promise<UploadContent> {
  const { upload } = to;
  const { tenantId, id, size, filename } = upload;
  using _lease = keepLease(deps.db, upload, renewResumable);
  try {
    const room = await checkUpload(deps, order, filename);
    if (size > room.maxBytes) throw tooLarge(room);
    const content = { ...(await hashesOf(upload)), size, filename };
    const wrong = findMismatch(upload.given, content) ?? findMismatch(order.given, content);
    if (wrong !== undefined) {
      await dropResumable(deps, upload);
      throw wrong;
    }
    const receipts = (await run(deps.db.pool, listReceipts, [tenantId, id])).map(({ receipt }) => receipt);
    await join(deps, upload, receipts);
    await deps.fault("artifact-store.complete.after-join");
    const { sha256, sha1, md5 } = content;
    const { principal } = order;
    const hashes = [sha256, sha1, md5] as const;
    await holdStaged(deps, { tenantId, id, content }, (tx) =>
      runCount(tx, startAttachingResumable, [
        tenantId,
        id,
        upload.leaseId,
        to.leaseId,
        ...hashes,
        JSON.stringify(principal),
        leaseMs,
        principal.subject,
      ]),
    );
    await deps.fault("artifact-store.complete.after-commit");
    return content;
  } catch (error) {
    await release(deps, upload);
    throw error;
  }
}

async function hashesOf(upload: Claimed): Promise<Omit<UploadContent, "size" | "filename">> {
  using hashes = await resumeHashes(upload.hashStates);
  return await hashes.digest();
}

async function join(deps: CompleteDeps, upload: Claimed, receipts: readonly string[]): Promise<void> {
  const { tenantId, id, place, size } = upload;
  if (place === null) throw new Error("an upload with bytes has no place");
  try {
    await deps.storage.joinParts(stagingKey(tenantId, id), { place, receipts, partSize, size });
  } catch (error) {
    if (error instanceof HarrierError) throw error;
    throw new HarrierError("artifactUploadFailed", undefined, { cause: error });
  }
}

async function artifactOf({ db }: CompleteDeps, { tenantId, uploadId }: Named, row: ResumableRow): Promise<UploadedArtifact> {
  const artifact = await runOne(db.pool, findArtifactOf, [tenantId, uploadId]);
  if (artifact === undefined) throw entityNotFound("Artifact", row.artifactId ?? 0);
  return { ...artifact, filename: row.filename, size: row.size };
}

function attaching(): HarrierError {
  return new HarrierError("unavailable", "The upload is being completed.", { headers: { "retry-after": "5" } });
}
