import { createHash } from "node:crypto";
import { createMD5, createSHA1, createSHA256, type IHasher } from "hash-wasm";

export const algorithms = ["sha256", "sha1", "md5"] as const;
export type Algorithm = (typeof algorithms)[number];

/** One hash of a file that grows. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  /** Returns the state behind the bytes so far, which begins with four bytes that name the code that wrote it. */
  save(): Uint8Array;
  /** Ends the hash, as hexadecimal digits; afterwards only `release` is allowed. */
  digest(): string;
  release(): void;
}

/** What a hash begins with: "unsaved" for Node's own, which is twice as fast and cannot be saved, else a saved state, or null for an empty file. */
export type Start = "unsaved" | Uint8Array | null;

const make = { sha256: createSHA256, sha1: createSHA1, md5: createMD5 };
/** Hashers are used again, because each has a memory of its own; only so many are kept. */
const kept = 16;
const unused: Readonly<Record<Algorithm, IHasher[]>> = { sha256: [], sha1: [], md5: [] };

/** Opens a hash of this thread. Throws for a state that other code wrote. */
export async function openHasher(algorithm: Algorithm, start: Start): Promise<Hasher> {
  if (start === "unsaved") return unsaved(algorithm);
  const hasher = unused[algorithm].pop() ?? (await make[algorithm]());
  if (start === null) hasher.init();
  else hasher.load(start);
  return {
    update: (bytes) => void hasher.update(bytes),
    save: () => hasher.save(),
    digest: () => hasher.digest("hex"),
    release: () => void (unused[algorithm].length < kept && unused[algorithm].push(hasher)),
  };
}

function unsaved(algorithm: Algorithm): Hasher {
  const hash = createHash(algorithm);
  return {
    update: (bytes) => void hash.update(bytes),
    save: () => {
      throw new Error("Node's own hashes cannot be saved");
    },
    digest: () => hash.digest("hex"),
    release: () => {},
  };
}
