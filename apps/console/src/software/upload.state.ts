/** How fast bytes went lately, and how long the rest takes. */
export function rateOf(
  samples: readonly { readonly at: number; readonly offset: number }[],
  size: number,
): { perSecond: number; leftMs: number } | undefined {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.at <= first.at || last.offset <= first.offset) return undefined;
  const perSecond = ((last.offset - first.offset) / (last.at - first.at)) * 1000;
  return { perSecond, leftMs: ((size - last.offset) / perSecond) * 1000 };
}

/** The part that begins at an offset. */
export const partOf = (offset: number, partSize: number, size: number): readonly [number, number] => [
  offset,
  Math.min(size, offset + partSize),
];

/** What the two hashes say. */
export function agreement(file: string | undefined, server: string): "agree" | "differ" | "noHash" {
  if (file === undefined) return "noHash";
  return file === server ? "agree" : "differ";
}
