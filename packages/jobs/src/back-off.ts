export interface BackOffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The wait after `attempts` failures in a row: it doubles with each of them, up to the maximum. */
export function backOff(attempts: number, { firstMs, maxMs }: BackOffOptions): number {
  return Math.min(firstMs * 2 ** Math.min(attempts - 1, 20), maxMs);
}
