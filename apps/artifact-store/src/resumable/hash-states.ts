import { HarrierError } from "@harrier/errors";
import { createMD5, createSHA1, createSHA256, type IHasher } from "hash-wasm";
import type { BlobHashes } from "../blobs/blobs.sql.ts";

/** The order and the lengths of the saved states, in bytes. Each begins with four bytes that name the code that wrote it. */
const lengths = [116, 96, 156] as const;
export const statesLength = lengths[0] + lengths[1] + lengths[2];

type Hashers = readonly [sha256: IHasher, sha1: IHasher, md5: IHasher];

/** Hashers are used again, because each has a memory of its own; only so many are kept. */
const kept = 16;
const unused: Hashers[] = [];

/** The three hashes of a growing file, whose state can be stored between two parts: Node's own hashes cannot be. */
export interface RunningHashes extends Disposable {
  update(bytes: Buffer): void;
  /** Returns the state behind the bytes so far. */
  save(): Buffer;
  /** Ends the hashes; afterwards only disposing is allowed. */
  digest(): Omit<BlobHashes, "size">;
}

/**
 * Goes on with saved states, or begins anew without them.
 * @throws HarrierError artifactUploadFailed if another version of the code wrote the states: then the file has to be sent again.
 */
export async function resumeHashes(states: Buffer | null): Promise<RunningHashes> {
  const hashers: Hashers = unused.pop() ?? [await createSHA256(), await createSHA1(), await createMD5()];
  try {
    load(hashers, states);
  } catch (error) {
    throw new HarrierError("artifactUploadFailed", "The state of this upload cannot be read by this release; begin a new one.", {
      cause: error,
    });
  }
  const [sha256, sha1, md5] = hashers;
  return {
    update: (bytes) => {
      for (const hasher of hashers) hasher.update(bytes);
    },
    save: () => Buffer.concat(hashers.map((hasher) => hasher.save())),
    digest: () => ({ sha256: sha256.digest("hex"), sha1: sha1.digest("hex"), md5: md5.digest("hex") }),
    [Symbol.dispose]: () => void (unused.length < kept && unused.push(hashers)),
  };
}

function load(hashers: Hashers, states: Buffer | null): void {
  let at = 0;
  for (const [i, hasher] of hashers.entries()) {
    const length = lengths[i] as number;
    if (states === null) hasher.init();
    else hasher.load(states.subarray(at, at + length));
    at += length;
  }
  if (states !== null && states.length !== at) throw new Error(`the states have ${states.length} bytes instead of ${at}`);
}
