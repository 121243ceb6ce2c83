/** Months before the current one. The functions of the database that drop partitions count by themselves (packages/db, audit-objects). */
const keepMonths = 24;

/** Start of the oldest month that has not been dropped. */
export function keptSince(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1));
}
