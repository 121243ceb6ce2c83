import { hoursMinutesSeconds, type PollInterval, type PollOverride, parsePollingTime, pollIntervalLimits } from "@harrier/contracts";
import { LRUCache } from "lru-cache";

/** What a tenant's settings say about when its devices poll next (contract device.md §3.4). */
export interface PollingPlan {
  readonly interval: PollInterval;
  /** What a poll answers where the interval is neither spread nor overridden nor shortened for a maintenance window. */
  readonly sleep: string;
  readonly overrides: readonly PollOverride[];
  /** No answer is shorter (seconds). */
  readonly shortest: number;
  /** How often a device shall poll before its maintenance window opens. */
  readonly pollsBeforeWindow: number;
  /** How long after the expected poll a target counts as overdue (seconds): a macro of queries. */
  readonly overdueAfter: number;
}

/** The settings that a plan is made of. */
export interface PollingSettings {
  readonly pollingTime: string;
  readonly pollingOverdueTime: string;
  readonly minPollingTime: string;
  readonly maintenanceWindowPollCount: number;
}

/** Equal settings have the same plan, whoever's they are and however often they are read: what is made for its queries is made once. */
const plans = new LRUCache<string, PollingPlan>({ max: 1_000 });
const fiveMinutes: PollInterval = { seconds: 300, jitterPercent: 0 };

export function pollingPlan(settings: PollingSettings): PollingPlan {
  const { pollingTime, pollingOverdueTime, minPollingTime, maintenanceWindowPollCount } = settings;
  const key = JSON.stringify([pollingTime, pollingOverdueTime, minPollingTime, maintenanceWindowPollCount]);
  const known = plans.get(key);
  if (known !== undefined) return known;
  const { interval, overrides } = readable(pollingTime);
  const shortest = secondsOf(minPollingTime, pollIntervalLimits.shortest);
  const plan: PollingPlan = {
    interval,
    sleep: hoursMinutesSeconds(Math.max(interval.seconds, shortest)),
    overrides,
    shortest,
    pollsBeforeWindow: Math.max(1, maintenanceWindowPollCount),
    overdueAfter: secondsOf(pollingOverdueTime, fiveMinutes.seconds),
  };
  plans.set(key, plan);
  return plan;
}

/** Settings are checked before they are stored; one that cannot be read after all must not keep any tenant's devices from polling. */
function readable(text: string): ReturnType<typeof parsePollingTime> {
  try {
    return parsePollingTime(text);
  } catch {
    return { interval: fiveMinutes, overrides: [] };
  }
}

function secondsOf(text: string, otherwise: number): number {
  try {
    return parsePollingTime(text).interval.seconds;
  } catch {
    return otherwise;
  }
}
