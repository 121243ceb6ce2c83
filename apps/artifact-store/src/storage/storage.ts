import type { Readable } from "node:stream";

/** Both ends are included, as in `Range: bytes=0-9`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StagedObject {
  readonly key: string;
  readonly modifiedAt: number;
}

/**
 * The size of a part of an upload, and so the memory that one running upload takes in S3. S3 demands parts of at least 5 MiB and at most 10,000 of
 * them, so this also limits an artifact to 80 GB.
 */
export const partSize = 8 * 1024 * 1024;
export const maxParts = 10_000;

/** A part of a file that comes in several requests; parts come in their order. */
export interface IncomingPart {
  /** The staging key of the file. */
  readonly key: string;
  /** What the storage answered for the part before; null for the first one. */
  readonly place: string | null;
  /** The first part has number 1. */
  readonly number: number;
  /** The bytes before the part, and those of the part. */
  readonly offset: number;
  readonly size: number;
  /** The writers of this file that were given up: none of them may change what counts by now. */
  readonly interruptions: number;
}

/** What the storage needs to find the bytes of a part again; the caller keeps it. */
export interface StoredPart {
  readonly place: string;
  readonly receipt: string;
}

/** All parts of a file. */
export interface CollectedParts {
  /** Who joins them: of two who do, because one has lost its lease, neither writes into what the other makes. It is part of a file's name. */
  readonly owner: string;
  readonly place: string;
  /** The receipts in the order of the parts. */
  readonly receipts: readonly string[];
  /** The size of every part but the last, in bytes. */
  readonly partSize: number;
  /** The size of the file, in bytes. */
  readonly size: number;
}

/** The memory for what a store has to hold before it can send it: a bucket takes blocks of `partSize`. */
export interface Memory {
  /**
   * Runs `work`, which reads a block of `source` and stores it, once there is room for it.
   * @throws HarrierError tooManyRequests if there is none for too long; `source` fails if the block does not come in time.
   */
  take<T>(source: Readable, work: () => Promise<T>): Promise<T>;
}

/** What a link into the store is good for. */
export interface LinkWanted {
  readonly seconds: number;
  /** The `Range` header that a request by this link must have; without one, the store answers whatever the client asks for. */
  readonly range: string | undefined;
  /** The headers of the store's answer. */
  readonly contentType: string;
  readonly contentDisposition: string | undefined;
}

/**
 * The store of the artifacts' bytes. There are two kinds of keys: `staging/<tenantId>-<uploadId>` while an upload runs, and the content
 * address `<tenantId>/<sha256>` afterwards. An object under a content address is always complete, because `promote` is atomic.
 * If the store is on another machine, each method rejects with `unavailable` while that machine does not answer.
 */
export interface Storage {
  /** It takes a file in blocks of `partSize` that are in memory as a whole, so that many uploads wait for places: a bucket does. */
  readonly inBlocks: boolean;
  /** Creates the directory or the bucket if it is missing. */
  prepare(): Promise<void>;
  /** Rejects with `storageFull` if it is known that there is no room for uploads. It is called before the first byte of an upload is read. */
  checkSpace(): Promise<void>;
  /** Returns what an operator should know while the store works with restrictions; undefined if there is nothing. */
  warning(): Promise<string | undefined>;
  /**
   * Stores a stream of unknown length. If it or the source fails, nothing is left under the key, and the source is destroyed.
   * It rejects with `storageFull` if there is no room. A bucket holds a block of it in `memory`, which has no bound if it is left out.
   */
  put(key: string, source: Readable, memory?: Memory): Promise<void>;
  /**
   * Stores a part durably. If it or the source fails, the parts before it are unchanged, and the part may be sent again; the source is destroyed.
   * It rejects with `storageFull` if there is no room. A bucket holds the part in memory.
   */
  putPart(part: IncomingPart, source: Readable): Promise<StoredPart>;
  /** Makes an object of all parts under the staging key, whole or not at all. A repetition changes nothing. */
  joinParts(key: string, parts: CollectedParts): Promise<void>;
  /** Makes the object appear under `to` as well, whole or not at all. `from` stays, and a repetition changes nothing. */
  promote(from: string, to: string): Promise<void>;
  /** Opens an object. It rejects with `artifactLoadFailed` before a byte is read if the object is missing or has another size. */
  open(key: string, size: number, range?: ByteRange): Promise<Readable>;
  stat(key: string): Promise<{ readonly size: number } | undefined>;
  /** Makes a link by which anybody may fetch the object for some seconds. Only a bucket that devices reach has it. */
  readonly link?: (key: string, wanted: LinkWanted) => Promise<string>;
  /** Deletes an object, and also the parts and what an interrupted `put` left unfinished. A missing key is no error. */
  delete(key: string): Promise<void>;
  /** Lists every finished object under `staging/`, for the janitor; of a directory also what has parts, so a key may come twice. */
  listStaging(): AsyncIterable<StagedObject>;
}

/** Throws if a stored object has another size than it was stored with: then no byte of it can be trusted. */
export function checkSize(found: number, size: number): void {
  if (found !== size) throw new Error(`the stored object has ${found} bytes instead of ${size}`);
}

export const stagingPrefix = "staging/";

export function stagingKey(tenantId: number, uploadId: string): string {
  return `${stagingPrefix}${tenantId}-${uploadId}`;
}

/** Returns the upload to which a staged object belongs, or undefined if the service never gives such a name. */
export function parseStagingKey(key: string): { tenantId: number; uploadId: string } | undefined {
  const match = /^staging\/(\d{1,10})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(key);
  return match?.[2] === undefined ? undefined : { tenantId: Number(match[1]), uploadId: match[2] };
}

export function contentKey(tenantId: number, sha256: string): string {
  return `${tenantId}/${sha256}`;
}
