import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, NetworkError } from "@harrier/client";
import type { ArtifactUploadView, ArtifactView } from "@harrier/contracts";
import { ExitError, exit } from "./exit.ts";
import { r } from "./routes.ts";
import type { Session } from "./session.ts";
import { barOf, type Upload } from "./upload-file.ts";
import { begunUpload, forgetUpload, keepUpload, type UploadKey } from "./upload-state.ts";

/** So often the server is asked how far it has come after a connection broke, without a part that arrived in between. */
const maxBreaks = 5;
/** Behind each break it waits longer by this. */
const restMs = 1_000;

/** While a part takes no longer than this, the next one is sent before it is answered. */
const quickMs = 5_000;

/** So many parts that were sent ahead may be refused before no more are. */
const maxRefused = 3;

/** A server that received the parts in several goes reads the file once more when it is complete; it is asked again for so long. */
const completeMs = 600_000;

/** Reads a file in order, hashing every byte once, whatever parts are sent again. */
class HashedFile {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash("sha256");
  #hashed = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async part(from: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    while (at < length) {
      const { bytesRead } = await this.#file.read(bytes, at, length - at, from + at);
      if (bytesRead === 0) throw new ExitError(exit.failed, "the file has become shorter while it was sent");
      at += bytesRead;
    }
    const known = this.#hashed - from;
    if (known >= 0 && known < length) {
      this.#hash.update(bytes.subarray(known));
      this.#hashed = from + length;
    }
    return bytes;
  }

  /** Hashes what an earlier run has sent. */
  async skipTo(offset: number, partSize: number): Promise<void> {
    while (this.#hashed < offset) await this.part(this.#hashed, Math.min(partSize, offset - this.#hashed));
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}

/** Answers the upload that an interrupted run has left, or opens one and keeps it. */
async function openOrContinue(session: Session, upload: Upload, key: UploadKey): Promise<ArtifactUploadView> {
  const { softwareModuleId, filename, sha256 } = upload;
  const begun = begunUpload(key);
  if (begun !== undefined) {
    try {
      const found = await session.read(r.artifactUploads.get, { params: { softwareModuleId, uploadId: begun.id } });
      if (found.status === "open") session.note(`${filename}: going on at ${found.offset} of ${found.size} bytes`);
      return found; // to complete one that is complete answers its artifact once more
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
    forgetUpload(key);
  }
  const opened = await session.read(r.artifactUploads.open, {
    params: { softwareModuleId },
    body: { filename, size: key.size, ...(sha256 === undefined ? {} : { sha256sum: sha256 }) },
  });
  keepUpload({ ...key, id: opened.id, expiresAt: opened.expiresAt });
  return opened;
}

/**
 * Uploads a file part by part, with the memory of five parts at most. What has arrived stays arrived: after a broken connection it goes on at the offset that
 * the server names, and so does the next run after this one was killed.
 */
export async function uploadInParts(session: Session, upload: Upload): Promise<{ made: ArtifactView; read: string }> {
  const { softwareModuleId, file, filename } = upload;
  const { size, mtimeMs } = await stat(file);
  const { server, as } = await session.place();
  const key: UploadKey = { server, as, softwareModuleId, filename, path: resolve(file), size, changedMs: mtimeMs };
  const opened = await openOrContinue(session, upload, key);
  const params = { softwareModuleId, uploadId: opened.id };
  const handle = await open(file);
  const bar = barOf(filename, size);
  try {
    const bytes = new HashedFile(handle);
    let { offset } = opened;
    let [breaks, refused] = [0, 0];
    const stored = (to: number): void => {
      if (to <= offset) return; // of two parts that are on their way, the later one may be answered first
      [offset, breaks] = [to, 0];
      bar.at(to);
    };
    bar.at(offset);
    while (offset < size) {
      await bytes.skipTo(offset, opened.partSize);
      try {
        await sendFrom(session, { params, bytes, from: offset, size, partSize: opened.partSize, ahead: refused < maxRefused, stored });
      } catch (error) {
        const elsewhere = error instanceof ApiError && error.code === "uploadOffset";
        const tooMuch = refused < maxRefused && error instanceof ApiError && (error.status === 429 || error.status === 503);
        if (!(elsewhere || tooMuch || error instanceof NetworkError) || ++breaks > maxBreaks) throw error;
        // a part that was sent ahead may have come to a replica that does not receive the one before, or was one too many
        if (elsewhere || tooMuch) refused += 1;
        if (!elsewhere) await sleep(breaks * restMs, undefined, { signal: session.signal });
        offset = (await offsetAt(session, params)) ?? offset;
      }
    }
    bar.at(size);
    await bytes.skipTo(size, opened.partSize);
    const read = bytes.digest();
    const made = await complete(session, params, read);
    forgetUpload(key);
    return { made, read };
  } catch (error) {
    // an upload that the server has ended, such as one with another hash than was said, cannot go on
    if (error instanceof ApiError && (error.status === 404 || error.code?.startsWith("checksum"))) forgetUpload(key);
    throw error;
  } finally {
    bar.end();
    await handle.close();
  }
}

/** Where the parts come from and go to; `stored` hears of each that has arrived. */
interface Sending {
  readonly params: Params;
  readonly bytes: HashedFile;
  readonly from: number;
  readonly size: number;
  readonly partSize: number;
  /** Whether a part may be sent before the one in front of it is answered. */
  readonly ahead: boolean;
  readonly stored: (to: number) => void;
}

/**
 * Sends what is missing. While parts take less than some seconds, the next one is sent before the last one is answered, so that the line does not rest
 * while the server stores it; on a slow line the two would only get in each other's way. It ends once no part is on its way any more.
 */
async function sendFrom(session: Session, { params, bytes, from, size, partSize, ahead, stored }: Sending): Promise<void> {
  const underway: Promise<void>[] = [];
  let [quick, failed] = [false, false];
  const given = new AbortController();
  const signal = AbortSignal.any([session.signal, given.signal]);
  try {
    for (let offset = from; offset < size && !failed; offset += partSize) {
      const part = await bytes.part(offset, Math.min(partSize, size - offset));
      while (underway.length > (quick ? 1 : 0)) await underway.shift();
      if (failed) break;
      const began = performance.now();
      const sent = sendPart(session, { params, offset, part, signal }).then((row) => {
        quick = ahead && performance.now() - began < quickMs;
        stored(row.offset);
      });
      // it is awaited in its turn, but nothing is sent behind it
      sent.catch(() => {
        failed = true;
      });
      underway.push(sent);
    }
    while (underway.length > 0) await underway.shift();
  } finally {
    given.abort();
    await Promise.allSettled(underway);
  }
}

/** The offset at which the server stands, or nothing while it cannot be asked. */
async function offsetAt(session: Session, params: Params): Promise<number | undefined> {
  try {
    return (await session.read(r.artifactUploads.get, { params })).offset;
  } catch (error) {
    if (error instanceof NetworkError) return undefined;
    throw error;
  }
}

type Params = { softwareModuleId: number; uploadId: string };

interface SentPart {
  readonly params: Params;
  readonly offset: number;
  readonly part: Uint8Array;
  readonly signal: AbortSignal;
}

async function sendPart(session: Session, { params, offset, part, signal }: SentPart): Promise<ArtifactUploadView> {
  const client = await session.client();
  const digest = createHash("sha256").update(part).digest("base64");
  const headers = { "content-type": "application/octet-stream", "content-digest": `sha-256=:${digest}:` };
  return client.upload(r.artifactUploads.sendPart, {
    params,
    query: { offset },
    upload: { body: part as Uint8Array<ArrayBuffer>, headers },
    signal,
  });
}

/**
 * Completing may be repeated, so a connection that breaks meanwhile loses nothing, and a server that still reads the file is asked again. The server
 * makes no artifact of another file than was read here.
 */
async function complete(session: Session, params: Params, sha256sum: string): Promise<ArtifactView> {
  const until = Date.now() + completeMs;
  for (let breaks = 0; ; ) {
    try {
      return await session.read(r.artifactUploads.complete, { params, query: { sha256sum } });
    } catch (error) {
      const rest = error instanceof ApiError && Date.now() < until ? error.retryAfter : undefined;
      if (rest !== undefined) await sleep(rest * 1_000, undefined, { signal: session.signal });
      else if (!(error instanceof NetworkError) || ++breaks > maxBreaks) throw error;
    }
  }
}
