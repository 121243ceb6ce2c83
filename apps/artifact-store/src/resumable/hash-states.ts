import { HarrierError } from "@harrier/errors";
import { FileHashes } from "../hashing/file-hashes.ts";
import { algorithms, openHasher } from "../hashing/hashers.ts";

/** The lengths of the saved states in their order (sha256, sha1, md5), in bytes. Each begins with four bytes that name the code that wrote it. */
const lengths = [116, 96, 156] as const;
export const statesLength = lengths[0] + lengths[1] + lengths[2];

/**
 * Goes on with the saved states of a growing file, or begins anew without them.
 * @throws HarrierError artifactUploadFailed if another version of the code wrote the states: then the file has to be sent again.
 */
export async function resumeHashes(states: Buffer | null): Promise<FileHashes> {
  try {
    const parts = divide(states);
    for (const [n, algorithm] of algorithms.entries()) (await openHasher(algorithm, parts[n] ?? null)).release();
    return new FileHashes(parts);
  } catch (error) {
    throw new HarrierError("artifactUploadFailed", "The state of this upload cannot be read by this release; begin a new one.", {
      cause: error,
    });
  }
}

/** Returns the states behind the bytes so far, as they are stored. */
export async function saveHashes(hashes: FileHashes): Promise<Buffer> {
  return Buffer.concat(await hashes.save());
}

function divide(states: Buffer | null): (Uint8Array | null)[] {
  if (states === null) return lengths.map(() => null);
  if (states.length !== statesLength) throw new Error(`the states have ${states.length} bytes instead of ${statesLength}`);
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return Uint8Array.from(states.subarray(end - length, end));
  });
}
