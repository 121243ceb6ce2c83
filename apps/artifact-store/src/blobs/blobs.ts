import { type Database, inTransaction, type PoolClient, run, runCount, runOne } from "@harrier/db";
import { contentKey, type Storage } from "../storage/storage.ts";
import { findBlob, forgetBlob, listDeleting, lockBlob, lockUnheld, markIfUnheld, removeReference } from "./blobs.sql.ts";

export interface BlobDeps {
  readonly db: Database;
  readonly storage: Storage;
  /** A blob that nothing holds is kept for this long, so that a backup of the database finds its object; absent is 0. */
  readonly keepMs?: number | undefined;
}

/**
 * Changes the references of a blob. `change` runs with the blob's row locked; afterwards a blob without references is marked for the sweep.
 * It never deletes an object itself, because a crash between that and the commit would leave a row whose object is gone.
 */
export async function changeHolders(
  deps: BlobDeps,
  blob: { readonly tenantId: number; readonly sha256: string },
  change: (tx: PoolClient) => Promise<void>,
): Promise<{ readonly unheld: boolean }> {
  return await inTransaction(deps.db.pool, async (tx) => {
    await run(tx, lockBlob, [blob.tenantId, blob.sha256]);
    await change(tx);
    // this is a separate statement, whose snapshot is younger than the lock, so it sees every holder
    return { unheld: (await runCount(tx, markIfUnheld, [blob.tenantId, blob.sha256])) > 0 };
  });
}

/**
 * Deletes the object of a blob that nothing has held for `keepMs`. An upload of the same content waits for the row: it then finds the object, or
 * stores it again.
 */
export async function sweepBlob(deps: BlobDeps, tenantId: number, sha256: string): Promise<void> {
  await inTransaction(deps.db.pool, async (tx) => {
    if ((await runOne(tx, lockUnheld, [tenantId, sha256, deps.keepMs ?? 0])) === undefined) return;
    await deps.storage.delete(contentKey(tenantId, sha256));
    await run(tx, forgetBlob, [tenantId, sha256]);
  });
}

/** Finishes deletions that a crash or a failing store interrupted, and returns the number of blobs that it found. */
export async function sweepBlobs(deps: BlobDeps): Promise<number> {
  const blobs = await run(deps.db.pool, listDeleting, [100, deps.keepMs ?? 0]);
  for (const blob of blobs) await sweepBlob(deps, blob.tenantId, blob.sha256);
  return blobs.length;
}

export interface ReleasedArtifact {
  readonly tenantId: number;
  readonly artifactId: number;
  readonly sha256: string;
}

/**
 * Releases the reference of one artifact row, idempotently by artifact id. The object is deleted with the last reference, or `keepMs` later. If the store
 * cannot delete it now, the release succeeds nevertheless: the blob stays marked, and the janitor deletes it later.
 */
export async function releaseArtifact(
  deps: BlobDeps & { readonly onSweepFailed: (error: unknown) => void },
  artifact: ReleasedArtifact,
): Promise<void> {
  const { tenantId, artifactId, sha256 } = artifact;
  const { unheld } = await changeHolders(deps, artifact, async (tx) => {
    await run(tx, removeReference, [tenantId, artifactId, sha256]);
  });
  if (unheld) await sweepBlob(deps, tenantId, sha256).catch(deps.onSweepFailed);
}

/** Returns the size of a blob, or undefined if it cannot be served now. */
export async function statBlob(deps: Pick<BlobDeps, "db">, tenantId: number, sha256: string): Promise<number | undefined> {
  return (await runOne(deps.db.pool, findBlob, [tenantId, sha256]))?.size;
}
