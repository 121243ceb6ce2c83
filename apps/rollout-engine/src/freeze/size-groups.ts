import { type GroupShare, remainingShares, splitGroups } from "./split-groups.ts";

/** Groups with filters of their own draw their targets from a pool. */
export interface Pool<Group extends GroupShare> {
  /** Answers how many targets of a filter no earlier group took. */
  count(filter: string): Promise<number>;
  /** Gives the first of them, in the order of their ids, to consecutive groups. */
  take(filter: string, groups: readonly Group[], sizes: readonly number[]): Promise<void>;
}

/** Computes the sizes of groups that have no filters of their own (contract rollouts.md §3). */
export function sizeByShares(groups: readonly GroupShare[], total: number): number[] {
  return splitGroups(total, remainingShares(groups));
}

/**
 * Computes the sizes of groups with filters of their own: one after the other takes its share of what is left. The freeze and the preview each
 * bring their own pool.
 */
export async function sizeByFilters<Group extends GroupShare>(groups: readonly Group[], pool: Pool<Group>): Promise<number[]> {
  const shares = remainingShares(groups);
  const sizes: number[] = [];
  for (const { from, to } of runsOfOneFilter(groups)) {
    const drawing = groups.slice(from, to);
    const filter = drawing[0]?.filter ?? "";
    const taken = splitGroups(await pool.count(filter), shares.slice(from, to));
    await pool.take(filter, drawing, taken);
    sizes.push(...taken);
  }
  return sizes;
}

/** Neighbours with the same filter draw from one pool, so one statement serves them all: 500 plain groups cost as much as one. */
function* runsOfOneFilter(groups: readonly GroupShare[]): Generator<{ from: number; to: number }> {
  let from = 0;
  while (from < groups.length) {
    let to = from + 1;
    while (groups[to]?.filter === groups[from]?.filter && to < groups.length) to++;
    yield { from, to };
    from = to;
  }
}
