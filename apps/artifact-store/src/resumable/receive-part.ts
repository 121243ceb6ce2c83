import { createHash, type Hash } from "node:crypto";
import type { Readable } from "node:stream";
import { Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { bytesPassed } from "@harrier/service";
import type { BlobDeps } from "../blobs/blobs.ts";
import { FileHashes } from "../hashing/file-hashes.ts";
import { type StoredPart, stagingKey } from "../storage/storage.ts";
import { keepLease, leaseLost } from "../upload/lease.ts";
import { passing } from "../upload/measure.ts";
import type { GivenDigest } from "./content-digest.ts";
import type { KeptHashes } from "./kept-hashes.ts";
import { commitPart, type ResumableRow, renewResumable } from "./resumable.sql.ts";
import { type Claimed, claimAt, keepMs, type Named, partAt, release, wrongOffset } from "./resumable.ts";

export interface PartDeps extends BlobDeps {
  readonly kept: KeptHashes;
  readonly fault: (name: "artifact-store.part.after-store" | "artifact-store.part.after-commit") => void | Promise<void>;
}

export interface PartOrder extends Named {
  /** Where the client says that the part begins, in bytes. */
  readonly offset: number;
  /** The length that the request claims, if it does. */
  readonly length: number | undefined;
  readonly digest: GivenDigest | undefined;
  readonly source: Readable;
}

/**
 * Takes the next part of an upload. When it returns, the bytes are durable, so whatever process goes on continues behind them. After a failure the
 * upload is as it was before, and the part may be sent again.
 * @throws HarrierError entityNotFound, uploadOffset, tooManyRequests (`claimAt`); constraintViolation for another length or digest; multipartInvalid
 * when the client is gone; storageFull, unavailable, artifactUploadFailed.
 */
export async function receivePart(deps: PartDeps, order: PartOrder): Promise<ResumableRow> {
  const upload = await claimAt(deps, order, order.offset);
  using _lease = keepLease(deps.db, upload, renewResumable);
  let hashes: FileHashes | undefined;
  try {
    const part = partAt(upload);
    if (part.size === 0) throw wrongOffset(upload);
    if (order.length !== undefined && order.length !== part.size) throw wrongLength(part.size);
    hashes = upload.received === 0 ? new FileHashes() : deps.kept.take(upload);
    const stored = await store(deps, { upload, part, hashes, order });
    await deps.fault("artifact-store.part.after-store");
    const row = await commit(deps, { upload, part, stored });
    await deps.fault("artifact-store.part.after-commit");
    if (hashes !== undefined) deps.kept.keep({ ...upload, received: row.received }, hashes);
    return row;
  } catch (error) {
    // they may have bytes of this part, which does not count
    hashes?.[Symbol.dispose]();
    await release(deps, upload);
    throw error;
  }
}

interface Part {
  readonly number: number;
  readonly size: number;
}

async function store(
  deps: PartDeps,
  from: { upload: Claimed; part: Part; hashes: FileHashes | undefined; order: PartOrder },
): Promise<StoredPart> {
  const { upload, part, order } = from;
  const key = stagingKey(upload.tenantId, upload.id);
  const incoming = { key, place: upload.place, ...part, offset: upload.received, interruptions: upload.interruptions };
  const checked = checkingStream(part.size, from.hashes, order.digest);
  const [read, stored] = await Promise.allSettled([passOn(order.source, checked), deps.storage.putPart(incoming, checked)]);
  for (const outcome of [read, stored]) {
    if (outcome.status === "rejected" && outcome.reason instanceof HarrierError) throw outcome.reason;
  }
  if (stored.status === "rejected") throw new HarrierError("artifactUploadFailed", undefined, { cause: stored.reason });
  return stored.value;
}

/**
 * Passes the body on until `checked` has ended or failed. `pipeline` would destroy the request with it, on which the error still has to be answered.
 * A client that is gone in the middle ends the part with an error.
 */
async function passOn(body: Readable, checked: Transform): Promise<void> {
  const cutOff = (): void => {
    if (!body.readableEnded) checked.destroy(new HarrierError("multipartInvalid", "The part was cut off."));
  };
  body.once("error", cutOff).once("close", cutOff);
  if (body.destroyed) cutOff();
  else body.pipe(checked);
  try {
    await finished(checked, { readable: false });
  } finally {
    body.unpipe(checked);
    body.off("error", cutOff).off("close", cutOff);
  }
}

/** Passes the bytes of a part on and hashes them. It fails before the end of a part of another length or digest, so that nothing of it counts. */
function checkingStream(size: number, hashes: FileHashes | undefined, digest: GivenDigest | undefined): Transform {
  const own: Hash | undefined = digest && createHash(digest.algorithm);
  let left = size;
  return new Transform({
    ...passing,
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) return done(wrongLength(size));
      const full = hashes?.update(chunk);
      own?.update(chunk);
      bytesPassed(chunk.length);
      if (full === undefined) done(null, chunk);
      else full.then(() => done(null, chunk), done);
    },
    flush(done) {
      if (left > 0) return done(wrongLength(size));
      if (own !== undefined && digest !== undefined && !own.digest().equals(digest.value)) return done(wrongDigest());
      done();
    },
  });
}

async function commit(
  deps: PartDeps,
  { upload, part, stored }: { upload: Claimed; part: Part; stored: StoredPart },
): Promise<ResumableRow> {
  const { tenantId, id, leaseId } = upload;
  const received = upload.received + part.size;
  const { place, receipt } = stored;
  const row = await runOne(deps.db.pool, commitPart, [tenantId, id, leaseId, received, place, part.number, receipt, keepMs]);
  if (row === undefined) throw leaseLost();
  return { ...upload, received, expiresAt: row.expiresAt };
}

function wrongLength(size: number): HarrierError {
  return new HarrierError("constraintViolation", `The part at this offset has ${size} bytes.`);
}

function wrongDigest(): HarrierError {
  return new HarrierError("constraintViolation", "The part does not have the digest of Content-Digest; send it again.");
}
