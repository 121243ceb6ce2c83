/** A chunk has so few rows that its locks are held for about 200 ms, and so many that the call itself costs little. */
const least = 1_000;
const max = 10_000;
const aimMs = 200;

/** Adapts the size to the time that the last chunk took; there is one per kind of chunk and process. */
export function createChunkSize(first: number): { next(): number; took(rows: number, ms: number): void } {
  let size = first;
  return {
    next: () => size,
    took(rows, ms) {
      // The duration of a chunk that was not full depends on the end of the group, not on the speed.
      if (rows < size / 2 || ms <= 0) return;
      const wanted = (rows * aimMs) / ms;
      size = Math.round(Math.min(max, Math.max(least, (size + wanted) / 2)));
    },
  };
}
