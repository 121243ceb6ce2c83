import { Transform } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { bytesPassed } from "@harrier/service";
import type { BlobHashes } from "../blobs/blobs.sql.ts";
import { FileHashes } from "../hashing/file-hashes.ts";

/** The maximum size of a file: the limit of one artifact, or what is left of the tenant's storage if that is less. */
export interface Room {
  readonly maxBytes: number;
  readonly storageBound: boolean;
  /** What is left of the tenant's storage, in bytes; absent if it is not limited, and from a management of the release before. */
  readonly storageLeft?: number | undefined;
}

/** How much a stream holds that passes bytes on: some pieces as they come, of 64 KiB at most, because joined ones would be copied. */
export const passing = { writableHighWaterMark: 256 * 1024, readableObjectMode: true, readableHighWaterMark: 4 };

export interface Measure extends Disposable {
  /** Passes the bytes on unchanged, and fails as soon as there are more than allowed. */
  readonly stream: Transform;
  /** Returns the size and the hashes; it may be called once the stream has ended. */
  result(): Promise<BlobHashes>;
}

/**
 * Creates a stream that computes the size and all three hashes of what passes through it. `sparing`: it holds little, because it waits for places that
 * many uploads share.
 */
export function createMeasure(room: Room, sparing = false): Measure {
  const hashes = new FileHashes({ sparing });
  let size = 0;
  const stream = new Transform({
    // otherwise the client's bytes go on coming while a block waits for its hashes or for the disk
    ...(sparing ? {} : passing),
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > room.maxBytes) {
        done(tooLarge(room));
        return;
      }
      const full = hashes.update(chunk);
      bytesPassed(chunk.length);
      if (full === undefined) done(null, chunk);
      else full.then(() => done(null, chunk), done);
    },
  });
  return { stream, result: async () => ({ size, ...(await hashes.digest()) }), [Symbol.dispose]: () => hashes[Symbol.dispose]() };
}

/** Creates the error for the limit that the file exceeds (contract management.md §4.3). */
export function tooLarge({ maxBytes, storageBound }: Room): HarrierError {
  const what = storageBound ? "storageExceeded" : "fileSizeExceeded";
  return new HarrierError(what, `Quota exceeded: the file is larger than the ${maxBytes} bytes that are allowed.`);
}
