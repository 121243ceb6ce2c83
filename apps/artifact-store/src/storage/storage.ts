import type { Readable } from "node:stream";

/** Both ends count, as in `Range: bytes=0-9`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StagedObject {
  readonly key: string;
  readonly modifiedAt: number;
}

/**
 * Where the bytes lie. Two kinds of keys: `staging/<tenantId>-<uploadId>` while an upload runs, and the content address
 * `<tenantId>/<sha256>` afterwards. An object under a content address is complete, always: `promote` is atomic.
 * Where the store is another machine, each of these rejects with `unavailable` while that is silent or absent.
 */
export interface Storage {
  /** Creates the directory or the bucket when it is absent. */
  prepare(): Promise<void>;
  /** Rejects with `storageFull` where it is known that no upload can be taken: asked before the first byte of one is read. */
  checkRoom(): Promise<void>;
  /** What an operator should know of a store that serves, but not all it should; undefined when nothing. */
  note(): Promise<string | undefined>;
  /**
   * Stores a stream of unknown length. When it fails (or the source does), nothing is left under the key, and the source is destroyed.
   * Rejects with `storageFull` where there is no room.
   */
  put(key: string, source: Readable): Promise<void>;
  /** Makes the object appear under `to` as well, whole or not at all. `from` stays; doing it twice changes nothing. */
  promote(from: string, to: string): Promise<void>;
  /** Rejects with `artifactLoadFailed` before a byte is read when the object is missing or not of its size. */
  open(key: string, size: number, range?: ByteRange): Promise<Readable>;
  stat(key: string): Promise<{ readonly size: number } | undefined>;
  /** Also ends what an interrupted `put` left unfinished. A missing key is no error. */
  delete(key: string): Promise<void>;
  /** Every finished object under `staging/`, for the janitor. */
  listStaging(): AsyncIterable<StagedObject>;
}

/** An object that was cut, or grown, behind our back: no byte of it can be trusted. */
export function checkSize(found: number, size: number): void {
  if (found !== size) throw new Error(`the stored object has ${found} bytes instead of ${size}`);
}

export const stagingPrefix = "staging/";

export function stagingKey(tenantId: number, uploadId: string): string {
  return `${stagingPrefix}${tenantId}-${uploadId}`;
}

/** The upload that a staged object belongs to; undefined for a name that we never gave. */
export function parseStagingKey(key: string): { tenantId: number; uploadId: string } | undefined {
  const match = /^staging\/(\d{1,10})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(key);
  return match?.[2] === undefined ? undefined : { tenantId: Number(match[1]), uploadId: match[2] };
}

export function contentKey(tenantId: number, sha256: string): string {
  return `${tenantId}/${sha256}`;
}
