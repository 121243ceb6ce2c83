import { createHash } from "node:crypto";
import { Transform } from "node:stream";
import { HarrierError } from "@harrier/errors";
import { bytesPassed } from "@harrier/service";
import type { BlobHashes } from "../blobs/blobs.sql.ts";

/** The maximum size of a file: the limit of one artifact, or what is left of the tenant's storage if that is less. */
export interface Room {
  readonly maxBytes: number;
  readonly storageBound: boolean;
  /** What is left of the tenant's storage, in bytes; absent if it is not limited, and from a management of the release before. */
  readonly storageLeft?: number | undefined;
}

export interface Measure {
  /** Passes the bytes on unchanged, and fails as soon as there are more than allowed. */
  readonly stream: Transform;
  /** Returns the size and the hashes; it may be called once the stream has ended. */
  result(): BlobHashes;
}

/** Creates a stream that computes the size and all three hashes of what passes through it. */
export function createMeasure(room: Room): Measure {
  const sha256 = createHash("sha256");
  const sha1 = createHash("sha1");
  const md5 = createHash("md5");
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > room.maxBytes) {
        done(tooLarge(room));
        return;
      }
      sha256.update(chunk);
      sha1.update(chunk);
      md5.update(chunk);
      bytesPassed(chunk.length);
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ size, sha256: sha256.digest("hex"), sha1: sha1.digest("hex"), md5: md5.digest("hex") }) };
}

/** Creates the error for the limit that the file exceeds (contract management.md §4.3). */
export function tooLarge({ maxBytes, storageBound }: Room): HarrierError {
  const what = storageBound ? "storageExceeded" : "fileSizeExceeded";
  return new HarrierError(what, `Quota exceeded: the file is larger than the ${maxBytes} bytes that are allowed.`);
}
