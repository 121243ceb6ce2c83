import { hoursMinutesSeconds, type PollInterval, pollIntervalLimits, windowAt } from "@harrier/contracts";
import type { PollingPlan } from "../settings/polling-plan.ts";
import type { PollRow } from "./poll.sql.ts";

/** Says when the device shall poll again, HH:mm:ss (contract device.md §3.4). */
export function sleepOf(plan: PollingPlan, row: Pick<PollRow, "maintenance" | "override">, controllerId: string, now: number): string {
  const interval = row.override == null ? plan.interval : (plan.overrides[row.override] ?? plan.interval);
  if (interval === plan.interval && interval.jitterPercent === 0 && row.maintenance === null) return plan.sleep;
  const usual = jittered(interval, plan.minSeconds, controllerId);
  return hoursMinutesSeconds(row.maintenance === null ? usual : beforeWindow(plan, row.maintenance, usual, now));
}

/**
 * Before the window opens a few polls are due, so that the device is there when it does; during and after its start there is the usual polling time.
 */
function beforeWindow(plan: PollingPlan, maintenance: NonNullable<PollRow["maintenance"]>, usual: number, now: number): number {
  const times = windowAt(maintenance, now);
  if (times === undefined || times.start <= now) return usual;
  const part = Math.floor(Math.floor((times.start - now) / 1_000) / plan.pollsBeforeWindow);
  return Math.min(usual, Math.max(plan.minSeconds, part));
}

/**
 * Jitter spreads devices evenly around the polling time, each always at the same place, so that its ETag stays valid with the same answer
 * (architecture §2).
 */
function jittered({ seconds, jitterPercent }: PollInterval, minSeconds: number, controllerId: string): number {
  const place = jitterPercent === 0 ? 0 : (placeOf(controllerId) * 2 - 1) * (jitterPercent / 100);
  return Math.max(minSeconds, Math.min(pollIntervalLimits.max, Math.floor(seconds * (1 + place))));
}

/** Maps ids evenly to 0 to 1: FNV-1a, then mixed so that ids that differ only in their last digit do not stay together. */
function placeOf(controllerId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < controllerId.length; i++) hash = Math.imul(hash ^ controllerId.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0xffffffff;
}
