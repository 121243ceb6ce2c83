/** Rows of a chunk: small enough that its locks are held for about 200 ms, large enough that the call itself costs little. */
const least = 1_000;
const most = 10_000;
const aimMs = 200;

/** Finds the size by what the last chunk took; one per kind of chunk and process. */
export function createChunkSize(first: number): { next(): number; took(rows: number, ms: number): void } {
  let size = first;
  return {
    next: () => size,
    took(rows, ms) {
      // a chunk that was not full tells more about the end of the group than about the speed
      if (rows < size / 2 || ms <= 0) return;
      const wanted = (rows * aimMs) / ms;
      size = Math.round(Math.min(most, Math.max(least, (size + wanted) / 2)));
    },
  };
}
