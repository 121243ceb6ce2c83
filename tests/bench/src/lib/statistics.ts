/** Computes the median of a list; the benchmark uses medians of interleaved pairs because machines drift. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Runs `a` and `b` in turn, `rounds` times, and returns both lists in order, so that ratios can be made pair by pair. */
export async function pairs<A, B>(
  rounds: number,
  a: (round: number) => Promise<A>,
  b: (round: number) => Promise<B>,
): Promise<{ a: A[]; b: B[] }> {
  const result: { a: A[]; b: B[] } = { a: [], b: [] };
  for (let round = 0; round < rounds; round++) {
    result.a.push(await a(round));
    result.b.push(await b(round));
  }
  return result;
}

/** Computes the median of the pairwise ratios a/b. */
export function medianRatio(a: readonly number[], b: readonly number[]): number {
  return median(a.map((value, i) => value / (b[i] ?? Number.NaN)));
}
