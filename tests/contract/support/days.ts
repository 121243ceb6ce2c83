const dayMs = 86_400_000;

/** The day that was so many days ago, in UTC: `YYYY-MM-DD`. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** This month in UTC: `YYYY-MM`. */
export const thisMonth = (): string => daysAgo(0).slice(0, 7);
