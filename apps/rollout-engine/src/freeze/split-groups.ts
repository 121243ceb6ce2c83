/** What decides about a group's share: percentages count per filter text (contract rollouts.md §3). */
export interface GroupShare {
  /** The group's own filter, "" for none. */
  filter: string;
  /** Percent of all targets of that filter, as a 32-bit float. */
  percentage: number;
}

/**
 * The share of each group in what earlier groups with the same filter have left over, in percent. The last of them gets all, whatever
 * the rounding did before.
 */
export function remainingShares(groups: readonly GroupShare[]): number[] {
  const served = new Map<string, number>();
  return groups.map(({ filter, percentage }) => {
    const serve = 100 - (served.get(filter) ?? 0);
    served.set(filter, (served.get(filter) ?? 0) + percentage);
    // product in 32 bits, division in 64: only so the sizes come out as existing installations show them
    return serve <= 1 ? 100 : Math.min(100, Math.fround(percentage * 100) / serve);
  });
}

const roundHalfUp = (value: number): number => Math.floor(value + 0.5);

/** Sizes of consecutive groups that take from one pool, by their remaining shares. */
export function splitGroups(pool: number, shares: readonly number[]): number[] {
  let rest = pool;
  return shares.map((share) => {
    const size = Math.min(rest, roundHalfUp((share * rest) / 100));
    rest -= size;
    return size;
  });
}

/** The percentage of each of n equal groups. */
export function equalShares(n: number): GroupShare[] {
  return Array.from({ length: n }, () => ({ filter: "", percentage: Math.fround(100 / n) }));
}

/** Counts for one group at creation: targets of its filter, and how many of those match an earlier group's filter too. */
export interface GroupCount {
  matching: number;
  overlapping: number;
}

/**
 * Sizes that the groups would get (contract rollouts.md §3.5); used to refuse definitions that do not cover all targets. A group with
 * the filter of an earlier one gets what groups with that filter left over; one whose filter overlaps others in part is taken to get
 * what all of them left over.
 */
export function simulateGroups(groups: readonly GroupShare[], counts: readonly GroupCount[]): number[] {
  const shares = remainingShares(groups);
  const unused = new Map<string, number>();
  return groups.map(({ filter }, index) => {
    const { matching, overlapping } = counts[index] ?? { matching: 0, overlapping: 0 };
    const givers = unused.has(filter) ? [filter] : overlapping > 0 ? [...unused.keys()] : [];
    let real = matching - overlapping;
    for (const giver of givers) {
      real += unused.get(giver) ?? 0;
      unused.delete(giver);
    }
    const size = roundHalfUp(((shares[index] ?? 0) * real) / 100);
    unused.set(filter, (unused.get(filter) ?? 0) + real - size);
    return size;
  });
}
