import { parsePollingTime } from "./polling-time.ts";

/**
 * Every setting of a tenant with its default, except the default set type, which is a reference (contract management.md §8.1). management stores
 * and publishes what differs; each service reads what it needs.
 */
export const settingDefaults = {
  "authentication.header.enabled": false,
  "authentication.header.authority": "",
  "authentication.targettoken.enabled": false,
  "authentication.gatewaytoken.enabled": false,
  "authentication.gatewaytoken.key": "",
  "anonymous.download.enabled": false,
  pollingTime: "00:05:00",
  pollingOverdueTime: "00:05:00",
  minPollingTime: "00:00:30",
  maintenanceWindowPollCount: 3,
  "rollout.approval.enabled": false,
  "repository.actions.autoclose.enabled": false,
  "multi.assignments.enabled": false,
  "batch.assignments.enabled": false,
  "user.confirmation.flow.enabled": false,
  "implicit.lock.enabled": true,
  // an empty text stands for the installation's links and host
  "artifact.links": "",
  "artifact.links.host": "",
  "artifact.links.presigned": false,
  "action.cleanup.enabled": false,
  "action.cleanup.actionExpiry": 2_592_000_000,
  "action.cleanup.actionStatus": "CANCELED,ERROR",
  // hawkBit 1.x has these names for the same settings (contract management.md §8.1, last row)
  "action.cleanup.auto.expiry": -1,
  "action.cleanup.auto.status": "CANCELED,ERROR",
  "action.cleanup.onQuotaHit.percent": 0,
  "action.delete.allowed.statuses": "CANCELED,ERROR,FINISHED",
  "auto.assignment.approval.enabled": false,
  // contract beyond.md §1.1, §1.2: empty texts for none
  "safety.default": "",
  "evidence.default": "",
} as const satisfies Record<string, string | number | boolean>;

export type SettingName = keyof typeof settingDefaults;

/**
 * Answers the seconds of a polling time, without its overrides and its jitter. Settings are checked before they are stored; one that still cannot
 * be read counts as `otherwise`.
 */
export function pollSeconds(stored: string, otherwise: number): number {
  try {
    return parsePollingTime(stored).interval.seconds;
  } catch {
    return otherwise;
  }
}

/** These settings decide when a target is overdue; null stands for the default. */
export interface PollTimes {
  pollingTime: string | null;
  pollingOverdueTime: string | null;
}

const fiveMinutes = 300;

/** Answers how many milliseconds after a poll the next one is expected, and when the target is overdue (contract management.md §5.11). */
export function pollLimits({ pollingTime, pollingOverdueTime }: PollTimes): { expectedMs: number; overdueMs: number } {
  const expected = pollSeconds(pollingTime ?? settingDefaults.pollingTime, fiveMinutes);
  const more = pollSeconds(pollingOverdueTime ?? settingDefaults.pollingOverdueTime, fiveMinutes);
  return { expectedMs: expected * 1_000, overdueMs: (expected + more) * 1_000 };
}

/** Computes the macro OVERDUE_TS of target queries: a target whose last poll is before that moment is overdue (contract management.md §6.3). */
export function overdueMacro(times: PollTimes, now: number): { OVERDUE_TS: number } {
  return { OVERDUE_TS: now - pollLimits(times).overdueMs };
}
