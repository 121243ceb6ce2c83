import { createHash } from "node:crypto";
import { Transform } from "node:stream";
import { HarrierError } from "@harrier/errors";
import type { BlobHashes } from "../blobs/blobs.sql.ts";

/** Largest artifact of a tenant without an own limit (contract management.md §9). */
const defaultMaxArtifactSize = 1_073_741_824;

export interface Measure {
  /** Passes the bytes on unchanged; fails as soon as there are more than allowed. */
  readonly stream: Transform;
  /** Valid once the stream has ended. */
  result(): BlobHashes;
}

/** All three hashes and the size, computed while the bytes pass. */
export function createMeasure(maxBytes: number): Measure {
  const sha256 = createHash("sha256");
  const sha1 = createHash("sha1");
  const md5 = createHash("md5");
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes) {
        done(tooLarge(maxBytes));
        return;
      }
      sha256.update(chunk);
      sha1.update(chunk);
      md5.update(chunk);
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ size, sha256: sha256.digest("hex"), sha1: sha1.digest("hex"), md5: md5.digest("hex") }) };
}

/** `maxBytes` is the smaller of two limits: below the artifact limit it can only be what is left of the tenant's storage. */
export function tooLarge(maxBytes: number): HarrierError {
  const what = maxBytes < defaultMaxArtifactSize ? "storageExceeded" : "fileSizeExceeded";
  return new HarrierError(what, `Quota exceeded: the file is larger than the ${maxBytes} bytes that are allowed.`);
}
