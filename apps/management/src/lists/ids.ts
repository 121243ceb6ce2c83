import type { IdBlocks } from "@harrier/db";

/** Returns ids for `n` new rows in ascending order: a few come from the block in memory, many cost one round trip. */
export async function takeIds(ids: Pick<IdBlocks, "next" | "take">, tenantId: number, kind: string, n: number): Promise<number[]> {
  if (n === 1) return [await ids.next(tenantId, kind)];
  const first = await ids.take(tenantId, kind, n);
  return Array.from({ length: n }, (_, i) => first + i);
}
