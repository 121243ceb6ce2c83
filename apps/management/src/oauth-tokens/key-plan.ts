/** These are the times of a key in milliseconds. */
export interface PlannedKey {
  number: number;
  createdAt: number;
  signsFrom: number;
}

export interface KeyTimes {
  now: number;
  /** A key gets a successor at this age. */
  rotateMs: number;
}

export interface KeyPlan {
  /** This key signs now; undefined means that there is none yet. */
  signs: number | undefined;
  /** A new key is to be made, which signs after so many seconds. */
  make: { number: number; inSeconds: number } | undefined;
  /** No valid token is signed by these keys any more. */
  retired: number[];
}

/** A new key is known to all replicas and gateways long before it signs. */
const leadSeconds = 600;
/** A key is kept for the longest life of a token (contract of oauth2-clients), and an hour for clocks that differ. */
const maxTokenMs = 25 * 60 * 60 * 1000;

/** Says which key signs, whether the next one is due, and which keys are no longer needed; `keys` are in the order of their numbers. */
export function planKeys(keys: readonly PlannedKey[], { now, rotateMs }: KeyTimes): KeyPlan {
  const newest = keys.at(-1);
  if (newest === undefined) return { signs: undefined, make: { number: 1, inSeconds: 0 }, retired: [] };
  const signs = keys.findLast((key) => key.signsFrom <= now) ?? (keys[0] as PlannedKey);
  const due = newest.createdAt + rotateMs <= now && newest === signs;
  const retired = keys.filter((_key, n) => {
    const successor = keys[n + 1];
    return successor !== undefined && successor.signsFrom + maxTokenMs < now;
  });
  return {
    signs: signs.number,
    make: due ? { number: newest.number + 1, inSeconds: leadSeconds } : undefined,
    retired: retired.map((key) => key.number),
  };
}
