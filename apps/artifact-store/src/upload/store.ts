import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { inTransaction, type PoolClient, run, runCount } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type BlobHashes, holdBlob, suspectBlob } from "../blobs/blobs.sql.ts";
import { type BlobDeps, changeHolders, sweepBlob } from "../blobs/blobs.ts";
import { contentKey, type Memory, stagingKey } from "../storage/storage.ts";
import { type Lease, leaseLost } from "./lease.ts";
import { createMeasure, type Room } from "./measure.ts";
import { describeUpload, endUpload, startAttaching } from "./upload.sql.ts";

export interface UploadContent extends BlobHashes {
  readonly filename: string;
}

/** A file that is to be staged, how large it may be, and the memory for it. */
export interface Staged {
  readonly file: Readable;
  readonly room: Room;
  readonly memory?: Memory;
}

/** Writes the bytes to the staging area and measures them meanwhile. `dropUpload` removes what a failure leaves there. */
export async function stageFile(deps: BlobDeps, upload: Lease, source: Staged): Promise<BlobHashes> {
  using measure = createMeasure(source.room, deps.storage.inBlocks);
  const key = stagingKey(upload.tenantId, upload.id);
  const [measured, stored] = await Promise.allSettled([
    pipeline(source.file, measure.stream),
    deps.storage.put(key, measure.stream, source.memory),
  ]);
  for (const outcome of [measured, stored]) {
    if (outcome.status === "rejected" && outcome.reason instanceof HarrierError) throw outcome.reason;
  }
  const failed = [stored, measured].find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw new HarrierError("artifactUploadFailed", undefined, { cause: failed.reason });
  return await measure.result();
}

/**
 * Makes the staged file a blob that this upload holds. The file is copied before the transaction, so that the blob's row is not locked
 * while a store copies gigabytes. If a sweep deleted the copy in between, it is made again under the lock.
 */
export async function storeBlob(deps: BlobDeps, upload: Lease, content: UploadContent): Promise<void> {
  const { tenantId, id, leaseId } = upload;
  const { filename, size, sha256, sha1, md5 } = content;
  const described = await runCount(deps.db.pool, describeUpload, [tenantId, id, leaseId, filename, size, sha256, sha1, md5]);
  if (described === 0) throw leaseLost();
  await holdStaged(deps, { tenantId, id, content }, (tx) => runCount(tx, startAttaching, [tenantId, id, leaseId]));
}

/**
 * Makes a staged file the content of a blob, and lets its upload hold the blob by `hold`, which answers 0 if it may not any more. A crash at any
 * point leaves either the staged file or an upload that holds the blob.
 */
export async function holdStaged(
  deps: BlobDeps,
  staged: { readonly tenantId: number; readonly id: string; readonly content: BlobHashes },
  hold: (tx: PoolClient) => Promise<number>,
): Promise<void> {
  const { tenantId, id } = staged;
  const { size, sha256, sha1, md5 } = staged.content;
  const promote = async (): Promise<void> => {
    if ((await deps.storage.stat(contentKey(tenantId, sha256)))?.size === size) return;
    await deps.storage.promote(stagingKey(tenantId, id), contentKey(tenantId, sha256));
  };
  await promote();
  await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, holdBlob, [tenantId, sha256, sha1, md5, size]);
    await promote();
    if ((await hold(tx)) === 0) throw leaseLost();
  });
  await deps.storage.delete(stagingKey(tenantId, id)).catch(() => {}); // the janitor deletes it later
}

/**
 * Ends an upload without an artifact. It removes the staged file, then the upload's row with its hold on the blob, and then the blob if
 * nothing else refers to it. It may be repeated after an interruption at any point.
 */
export async function dropUpload(deps: BlobDeps, upload: Lease, content?: BlobHashes): Promise<void> {
  const { tenantId, id, leaseId } = upload;
  await deps.storage.delete(stagingKey(tenantId, id));
  if (content === undefined) {
    await run(deps.db.pool, endUpload, [tenantId, id, leaseId]);
    return;
  }
  const { sha256, sha1, md5, size } = content;
  // the blob's row is created before the lock is taken, because a missing row cannot be locked
  await run(deps.db.pool, suspectBlob, [tenantId, sha256, sha1, md5, size]);
  await changeHolders(deps, { tenantId, sha256 }, async (tx) => {
    await run(tx, endUpload, [tenantId, id, leaseId]);
  });
  await sweepBlob(deps, tenantId, sha256);
}
