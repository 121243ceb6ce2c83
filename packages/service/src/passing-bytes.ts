import { setFlagsFromString } from "node:v8";

/** Node's `gc` of --expose-gc, as far as it is used here. */
type Collect = (options: { type: "minor" }) => void;

/**
 * What holds so many bytes that have passed is freed at once. Each piece of a body has memory of its own outside the heap, of which V8 only knows the
 * size: it collects the whole heap when there are 64 MiB of it, several times a second in a fast transfer, and the young generation alone when that
 * is full of small objects, which a transfer hardly makes. The young generation holds these pieces, so that its collection is enough and takes a
 * fraction of a millisecond; after so few bytes the memory that it frees is used again while the processor has it in its cache.
 */
const freedAtOnce = 4 * 2 ** 20;

/** Counts the bytes of bodies that pass through this process, and frees their memory. Without --expose-gc that is left to V8. */
export function createPassingBytes(collect: Collect | undefined): (bytes: number) => void {
  if (collect === undefined) return () => {};
  let passed = 0;
  return (bytes) => {
    passed += bytes;
    if (passed < freedAtOnce) return;
    passed = 0;
    collect({ type: "minor" });
  };
}

/** The same for this process. */
export const bytesPassed: (bytes: number) => void = createPassingBytes((globalThis as { gc?: Collect }).gc);

/**
 * Sets the flags of V8 for a process through which bytes pass; NODE_OPTIONS does not take them.
 * - Its heap doubles before it is collected as a whole. V8 would begin as soon as less room is left than the young generation may take, which a small
 *   heap of 40 MB never has: it then marks all of it ten times a second while bytes pass, for a fifth of an upload's CPU, and for two thirds of a
 *   download's in the gateway.
 * - Its young generation is collected by one thread. Little of it is alive when bytes pass, so to wake others takes longer than what they would do: a
 *   tenth of an upload's CPU.
 */
export function setHeapForBytes(): void {
  setFlagsFromString("--heap-growing-percent=100");
  setFlagsFromString("--no-parallel-scavenge");
}
