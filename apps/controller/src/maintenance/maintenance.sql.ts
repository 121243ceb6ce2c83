import { statement } from "@harrier/db";

/** Tells whether the relay has sent every event older than this. */
export const eventsSentUntil = statement<[until: Date], { sent: boolean }>(
  "controller.events_sent_until",
  `select not exists (select from outbox o, outbox_cursor c where o.at < $1 and not pg_visible_in_snapshot(o.txid, c.sent)) as sent`,
);

/** Tells whether every delta older than this is folded into group_progress. */
export const deltasFoldedUntil = statement<[until: Date], { folded: boolean }>(
  "controller.deltas_folded_until",
  `select not exists (select from group_deltas d, group_progress_folded f where d.at < $1 and (d.txid, d.id) > (f.txid, f.id)) as folded`,
);

/** Analyses the tables whose statistics are useless or outdated, so that no plan is made or kept for an earlier state of a table. */
export const refreshStatistics = statement<[], never>("controller.refresh_statistics", "select refresh_statistics()");

/** Removes links to deleted tags, at most `limit` of them. */
export const sweepTags = statement<[limit: number], { swept: number }>("controller.sweep_tags", "select sweep_target_tags($1) as swept");

/** Removes failures and series of rollouts that are gone, at most `limit` rows of each. */
export const sweepRollouts = statement<[limit: number], { swept: number }>(
  "controller.sweep_rollouts",
  "select sweep_rollouts($1) as swept",
);

/** Makes the series of rollouts coarser: hours after a day, days after thirty (contract console.md §2), at most `limit` rows of each. */
export const coarsenProgress = statement<[limit: number], { coarsened: number }>(
  "controller.coarsen_rollout_progress",
  "select coarsen_rollout_progress(60, 1440, $1) + coarsen_rollout_progress(1440, 43200, $1) as coarsened",
);

/** Deletes lines of unfinished imports, at most `limit` of them. */
export const sweepImports = statement<[limit: number], { swept: number }>("controller.sweep_imports", "select sweep_imports($1) as swept");

/** Scans the next targets for what they use of their quotas (contract management.md §10.3 `used`; functions/target-usage.sql). */
export const walkTargetUsage = statement<[maxTargets: number], { scanned: number }>(
  "controller.walk_target_usage",
  "select walk_target_usage($1) as scanned",
);
