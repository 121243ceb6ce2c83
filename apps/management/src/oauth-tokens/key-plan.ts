/** A key as far as its times go; milliseconds. */
export interface PlannedKey {
  number: number;
  createdAt: number;
  signsFrom: number;
}

export interface KeyTimes {
  now: number;
  /** Age at which a key gets its successor. */
  rotateMs: number;
}

export interface KeyPlan {
  /** Signs now; undefined: there is none yet. */
  signs: number | undefined;
  /** To be made; it signs after so many seconds. */
  make: { number: number; inSeconds: number } | undefined;
  /** No token of theirs lives any more. */
  retired: number[];
}

/** A new key is known to all replicas and gateways long before it signs. */
const leadSeconds = 600;
/** Longest life of a token (contract of oauth2-clients), and an hour for clocks that differ. */
const longestTokenMs = 25 * 60 * 60 * 1000;

/** Which key signs, whether the next one is due, and which are no longer needed; `keys` in the order of their numbers. */
export function planKeys(keys: readonly PlannedKey[], { now, rotateMs }: KeyTimes): KeyPlan {
  const newest = keys.at(-1);
  if (newest === undefined) return { signs: undefined, make: { number: 1, inSeconds: 0 }, retired: [] };
  const signs = keys.findLast((key) => key.signsFrom <= now) ?? (keys[0] as PlannedKey);
  const due = newest.createdAt + rotateMs <= now && newest === signs;
  const retired = keys.filter((_key, n) => {
    const successor = keys[n + 1];
    return successor !== undefined && successor.signsFrom + longestTokenMs < now;
  });
  return {
    signs: signs.number,
    make: due ? { number: newest.number + 1, inSeconds: leadSeconds } : undefined,
    retired: retired.map((key) => key.number),
  };
}
