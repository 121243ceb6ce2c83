/** A group's share depends on these members: percentages count per filter text (contract rollouts.md §3). */
export interface GroupShare {
  /** The group's own filter; "" stands for none. */
  filter: string;
  /** The percentage of all targets of that filter, as a 32-bit float. */
  percentage: number;
}

/**
 * Answers each group's share, in percent, of what earlier groups with the same filter have left over. The last group gets all of it, whatever the
 * rounding did before.
 */
export function remainingShares(groups: readonly GroupShare[]): number[] {
  const served = new Map<string, number>();
  return groups.map(({ filter, percentage }) => {
    const serve = 100 - (served.get(filter) ?? 0);
    served.set(filter, (served.get(filter) ?? 0) + percentage);
    // the product is in 32 bits and the division in 64, because only then the sizes are those of existing installations
    return serve <= 1 ? 100 : Math.min(100, Math.fround(percentage * 100) / serve);
  });
}

const roundHalfUp = (value: number): number => Math.floor(value + 0.5);

/** Computes the sizes of consecutive groups that take from one pool, by their remaining shares. */
export function splitGroups(pool: number, shares: readonly number[]): number[] {
  let rest = pool;
  return shares.map((share) => {
    const size = Math.min(rest, roundHalfUp((share * rest) / 100));
    rest -= size;
    return size;
  });
}

/** Answers n groups with the percentage of an equal share. */
export function equalShares(n: number): GroupShare[] {
  return Array.from({ length: n }, () => ({ filter: "", percentage: Math.fround(100 / n) }));
}

/** A group's counts at creation: the targets of its filter, and how many of them match an earlier group's filter too. */
export interface GroupCount {
  matching: number;
  overlapping: number;
}

/**
 * Simulates the sizes of the groups (contract rollouts.md §3.5), to refuse definitions that do not cover all targets. A group with the filter of an
 * earlier one gets what groups with that filter left over; a group whose filter overlaps others in part is assumed to get what all of them left
 * over.
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
