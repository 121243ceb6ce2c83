import type { IdBlocks } from "@harrier/db";

/** Ids for `n` new rows in ascending order: from the block in memory for a few, in one round trip for many. */
export async function takeIds(ids: Pick<IdBlocks, "next" | "take">, tenantId: number, kind: string, n: number): Promise<number[]> {
  if (n === 1) return [await ids.next(tenantId, kind)];
  const first = await ids.take(tenantId, kind, n);
  return Array.from({ length: n }, (_, i) => first + i);
}
