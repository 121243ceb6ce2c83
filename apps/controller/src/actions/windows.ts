import { type MaintenanceWindow, windowsEnd } from "@harrier/contracts";
import type { AssignmentItem } from "@harrier/rpc";

/** A window as the functions that create actions take it: its parts, and the end of the last one. All null means any time. */
export type WindowValues = [schedule: string | null, duration: string | null, timezone: string | null, end: Date | null];

/** `end` is also null where there is no last window (contract device.md §3.1). */
export function windowValues(window: AssignmentItem["maintenanceWindow"], now: number): WindowValues {
  if (window === null) return [null, null, null, null];
  return [window.schedule, window.duration, window.timezone, endOf(window, now)];
}

/** Makes one list for each part. Most items share their window, whose end is computed once. */
export function windowLists(items: readonly AssignmentItem[], now: number) {
  const known = new Map<string, WindowValues>();
  const values = items.map(({ maintenanceWindow: window }) => {
    const key = JSON.stringify(window);
    const found = known.get(key) ?? windowValues(window, now);
    known.set(key, found);
    return found;
  });
  return [values.map((v) => v[0]), values.map((v) => v[1]), values.map((v) => v[2]), values.map((v) => v[3])] as const;
}

function endOf(window: MaintenanceWindow, now: number): Date | null {
  const end = windowsEnd(window, now);
  return end === undefined ? null : new Date(end);
}
