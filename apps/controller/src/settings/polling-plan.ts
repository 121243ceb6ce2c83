import {
  hoursMinutesSeconds,
  type PollInterval,
  type PollOverride,
  parsePollingTime,
  pollIntervalLimits,
  pollSeconds,
} from "@harrier/contracts";
import { LRUCache } from "lru-cache";

/** Says when a tenant's devices poll next, according to its settings (contract device.md §3.4). */
export interface PollingPlan {
  readonly interval: PollInterval;
  /** The answer to a poll where no jitter, override or maintenance window applies. */
  readonly sleep: string;
  readonly overrides: readonly PollOverride[];
  /** No answer is below this (seconds). */
  readonly minSeconds: number;
  /** The number of polls that a device shall make before its maintenance window opens. */
  readonly pollsBeforeWindow: number;
  /** A target counts as overdue this long after the expected poll (seconds): a macro of queries. */
  readonly overdueAfter: number;
}

/** The settings from which a plan is made. */
export interface PollingSettings {
  readonly pollingTime: string;
  readonly pollingOverdueTime: string;
  readonly minPollingTime: string;
  readonly maintenanceWindowPollCount: number;
}

/** Equal settings share one plan, for any tenant and however often they are read, so that its queries are compiled once. */
const plans = new LRUCache<string, PollingPlan>({ max: 1_000 });
const fiveMinutes: PollInterval = { seconds: 300, jitterPercent: 0 };

export function pollingPlan(settings: PollingSettings): PollingPlan {
  const { pollingTime, pollingOverdueTime, minPollingTime, maintenanceWindowPollCount } = settings;
  const key = JSON.stringify([pollingTime, pollingOverdueTime, minPollingTime, maintenanceWindowPollCount]);
  const known = plans.get(key);
  if (known !== undefined) return known;
  const { interval, overrides } = readable(pollingTime);
  const minSeconds = pollSeconds(minPollingTime, pollIntervalLimits.min);
  const plan: PollingPlan = {
    interval,
    sleep: hoursMinutesSeconds(Math.max(interval.seconds, minSeconds)),
    overrides,
    minSeconds,
    pollsBeforeWindow: Math.max(1, maintenanceWindowPollCount),
    overdueAfter: pollSeconds(pollingOverdueTime, fiveMinutes.seconds),
  };
  plans.set(key, plan);
  return plan;
}

/** Settings are checked before they are stored; should one be unreadable nevertheless, it must not keep any tenant's devices from polling. */
function readable(text: string): ReturnType<typeof parsePollingTime> {
  try {
    return parsePollingTime(text);
  } catch {
    return { interval: fiveMinutes, overrides: [] };
  }
}
