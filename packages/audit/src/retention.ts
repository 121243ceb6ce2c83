import type { PartitionedTable } from "@harrier/db";

/** Months before the current one. */
const keepMonths = 24;

/** What a service that keeps a trail hands to `ensurePartitions`: batches and their entries are dropped together, by month. */
export const auditTables: readonly PartitionedTable[] = ["audit_entries", "audit_batches"].map((name) => ({
  name,
  every: "month",
  ahead: 2,
  keep: keepMonths,
}));

/** Start of the oldest month that has not been dropped. */
export function keptSince(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1));
}
