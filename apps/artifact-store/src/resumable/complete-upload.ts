import { randomUUID } from "node:crypto";
import type { UploadFields } from "@harrier/contracts";
import { runCount, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { attachWithRetries, checkUpload, type Uploading, type UploadingDeps } from "../upload/attach-with-retries.ts";
import { keepLease, leaseMs } from "../upload/lease.ts";
import { tooLarge } from "../upload/measure.ts";
import { holdStaged, type UploadContent } from "../upload/store.ts";
import { findMismatch, type UploadedArtifact } from "../upload/upload-artifact.ts";
import { type JoinDeps, joinAndHash, waitForJoin } from "./join-and-hash.ts";
import { findArtifactOf, type ResumableRow, renewResumable, startAttachingResumable } from "./resumable.sql.ts";
import { type Claimed, claimAt, dropResumable, getUpload, type Named, release, wrongOffset } from "./resumable.ts";

export interface CompleteDeps extends Omit<UploadingDeps, "fault">, Omit<JoinDeps, "fault" | "log"> {
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
  let row = await getUpload(deps, named);
  const joined = await waitForJoin(deps, uploadId);
  if (joined === "late") throw completing();
  if (joined === "joined") row = await getUpload(deps, named);
  if (row.state === "attached") return await artifactOf(deps, named, row);
  if (row.state === "attaching") throw completing();
  if (row.received < row.size) throw wrongOffset(row);
  const upload = await claimWhole(deps, named, row);
  const leaseId = randomUUID();
  const content = await hold(deps, order, { upload, leaseId });
  if (content === undefined) throw completing();
  const pending = { tenantId: named.tenantId, id: uploadId, leaseId, ...content, moduleId: order.moduleId, attempts: 0 };
  using _lease = keepLease(deps.db, pending);
  return { ...content, ...(await attachWithRetries(deps, order, pending)) };
}

/** An upload that has had all its bytes and cannot be claimed at their end is being completed by another request. */
async function claimWhole(deps: CompleteDeps, named: Named, { size }: ResumableRow): Promise<Claimed> {
  try {
    return await claimAt(deps, named, size);
  } catch (error) {
    throw error instanceof HarrierError && error.code === "uploadOffset" ? completing() : error;
  }
}

/** Makes the file one object, checks it, and lets the upload hold its blob; undefined while the object is being made. */
async function hold(
  deps: CompleteDeps,
  order: CompleteOrder,
  to: { upload: Claimed; leaseId: string },
): Promise<UploadContent | undefined> {
  const { upload } = to;
  const { tenantId, id, size, filename } = upload;
  using _lease = keepLease(deps.db, upload, renewResumable);
  try {
    const room = await checkUpload(deps, order, filename);
    if (size > room.maxBytes) throw tooLarge(room);
    const hashes = upload.hashes ?? (await joinAndHash(deps, upload));
    if (hashes === undefined) return undefined;
    const content = { ...hashes, size, filename };
    const wrong = findMismatch(upload.given, content) ?? findMismatch(order.given, content);
    if (wrong !== undefined) {
      await dropResumable(deps, { ...upload, hashes });
      throw wrong;
    }
    const { sha256, sha1, md5 } = content;
    const { principal } = order;
    await holdStaged(deps, { tenantId, id, content }, (tx) =>
      runCount(tx, startAttachingResumable, [
        tenantId,
        id,
        upload.leaseId,
        to.leaseId,
        sha256,
        sha1,
        md5,
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

async function artifactOf({ db }: CompleteDeps, { tenantId, uploadId }: Named, row: ResumableRow): Promise<UploadedArtifact> {
  const artifact = await runOne(db.pool, findArtifactOf, [tenantId, uploadId]);
  if (artifact === undefined) throw entityNotFound("Artifact", row.artifactId ?? 0);
  return { ...artifact, filename: row.filename, size: row.size };
}

function completing(): HarrierError {
  return new HarrierError("unavailable", "The upload is being completed.", { headers: { "retry-after": "5" } });
}
