/** So many months before the current one are kept. The database functions that drop partitions have their own number (packages/db, audit-objects). */
const keepMonths = 24;

/** Answers the start of the oldest month that has not been dropped. */
export function keptSince(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1));
}
