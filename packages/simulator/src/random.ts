import { createHash } from "node:crypto";

/** Answers a number in [0, 1) that depends only on its arguments: the same seed gives the same fleet. */
export function chance(seed: number, ...of: readonly (string | number)[]): number {
  return (
    createHash("sha256")
      .update([seed, ...of].join("/"))
      .digest()
      .readUInt32BE(0) /
    2 ** 32
  );
}
