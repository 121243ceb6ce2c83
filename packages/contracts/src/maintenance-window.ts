import { HarrierError } from "@harrier/errors";
import { LRUCache } from "lru-cache";
import { type QuartzCron, quartzCron } from "./quartz-cron.ts";
import { type WindowClock, windowClock } from "./window-clock.ts";

/** A recurring window in which a device may install (contract device.md §3.5). */
export interface MaintenanceWindow {
  /** The Quartz cron of the starts, seconds first. */
  readonly schedule: string;
  /** The length of a window, HH:mm or HH:mm:ss. */
  readonly duration: string;
  /** The fixed offset from UTC in which the schedule is meant. */
  readonly timezone: string;
}

/** One occurrence of a window in epoch ms; it is open between its ends, but not at them. */
export interface WindowTimes {
  readonly start: number;
  readonly end: number;
}

const maxLengths = { schedule: 128, duration: 16 };
/** The contract allows no larger offset than 18 hours (management.md §5.6). */
const largestOffset = 18 * 3_600_000;

/** Parsed windows are kept, of about 3 KiB each. The actions of a rollout share their window, so few different ones are in use at a time. */
const parsed = new LRUCache<string, Parsed>({ max: 500 });

/** Clocks are kept up to 4 MiB; one needs a few hundred bytes, and a megabyte if it has a window every other second. */
const clocks = new LRUCache<string, WindowClock>({ max: 200, maxSize: 1_000_000, sizeCalculation: ({ size }) => size + 1 });

interface Parsed {
  readonly cron: QuartzCron;
  readonly length: number;
  readonly offset: number;
  /** The last answer of `windowAt`; it is valid from the moment for which it was computed until its window ends. */
  known: { readonly from: number; readonly times: WindowTimes | undefined } | undefined;
}

/**
 * Parses the window that three texts describe; undefined if none of them is given. Partial or unreadable ones give `maintenanceScheduleInvalid`
 * (contract management.md §5.6). Only `windowAt` says whether the schedule still has a window.
 */
export function parseMaintenanceWindow(parts: {
  readonly schedule?: string | undefined;
  readonly duration?: string | undefined;
  readonly timezone?: string | undefined;
}): MaintenanceWindow | undefined {
  const { schedule = "", duration = "", timezone = "" } = parts;
  if (schedule === "" && duration === "" && timezone === "") return undefined;
  const window = { schedule, duration, timezone };
  for (const part of ["schedule", "duration", "timezone"] as const) {
    if (window[part] === "") throw invalid(`A maintenance window needs schedule, duration and timezone; ${part} is missing.`);
    // a timezone that is too long is no offset either, and that error says more
    if (part !== "timezone" && window[part].length > maxLengths[part])
      throw invalid(`The ${part} of a maintenance window has at most ${maxLengths[part]} characters.`);
  }
  parsedOf(window);
  return window;
}

/**
 * Like `parseMaintenanceWindow`, for a window that is still to begin: one that never comes again is refused like one that cannot be read (contract
 * management.md §5.6).
 */
export function upcomingMaintenanceWindow(
  parts: Parameters<typeof parseMaintenanceWindow>[0] | undefined,
  nowMs: number,
): MaintenanceWindow | undefined {
  const window = parseMaintenanceWindow(parts ?? {});
  if (window !== undefined && windowAt(window, nowMs) === undefined) {
    throw invalid("The schedule of the maintenance window has no further window.");
  }
  return window;
}

/**
 * Answers the window that runs at a moment, otherwise the next one: the first that ends after it (contract device.md §3.5). It is undefined when no
 * further window comes. Throws for a window that `parseMaintenanceWindow` would refuse.
 */
export function windowAt(window: MaintenanceWindow, nowMs: number): WindowTimes | undefined {
  const entry = parsedOf(window);
  const known = entry.known;
  if (known !== undefined && known.from <= nowMs && (known.times === undefined || nowMs < known.times.end)) return known.times;
  const start = entry.cron.after(nowMs - entry.length + entry.offset);
  const times = start === undefined ? undefined : { start: start - entry.offset, end: start - entry.offset + entry.length };
  entry.known = { from: nowMs, times };
  return times;
}

/** Whether a window is open; it is not at the very moments at which it starts and ends (contract device.md §3.5). */
export function isWindowOpen(window: MaintenanceWindow, nowMs: number): boolean {
  const times = windowAt(window, nowMs);
  return times !== undefined && times.start < nowMs && nowMs < times.end;
}

/**
 * Answers the end of the last window that a schedule ever has, in epoch ms: the schedule names its years, or its days never come, which counts as
 * ended now. It is undefined if there is always another window.
 */
export function windowsEnd(window: MaintenanceWindow, nowMs: number): number | undefined {
  const entry = parsedOf(window);
  const last = entry.cron.last();
  if (last !== undefined) return last - entry.offset + entry.length;
  return windowAt(window, nowMs) === undefined ? nowMs : undefined;
}

/**
 * Answers the moment at which the time inside windows since `sinceMs` reaches `amountMs`; without a further window it is the end of the last one. What is
 * not reached at the horizon is answered with the horizon. It costs no more for many windows than for few.
 */
export function openTimeReached(window: MaintenanceWindow, clock: { sinceMs: number; amountMs: number; horizonMs: number }): number {
  const key = keyOf(window);
  let found = clocks.get(key);
  if (found === undefined) {
    found = windowClock(parsedOf(window));
    clocks.set(key, found);
  }
  return found.reached(clock.sinceMs, clock.amountMs, clock.horizonMs);
}

function parsedOf(window: MaintenanceWindow): Parsed {
  const key = keyOf(window);
  const found = parsed.get(key);
  if (found !== undefined) return found;
  const made = { cron: cronOf(window.schedule), length: lengthOf(window.duration), offset: offsetOf(window.timezone), known: undefined };
  parsed.set(key, made);
  return made;
}

function keyOf({ schedule, duration, timezone }: MaintenanceWindow): string {
  return `${schedule}\n${duration}\n${timezone}`;
}

function cronOf(schedule: string): QuartzCron {
  try {
    return quartzCron(schedule);
  } catch (error) {
    throw invalid(`The schedule of the maintenance window is not a Quartz cron expression: ${(error as Error).message}.`, error);
  }
}

function lengthOf(duration: string): number {
  const [, hours, minutes, seconds = "0"] = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(duration) ?? [];
  if (hours === undefined) throw invalid("The duration of a maintenance window is HH:mm or HH:mm:ss, below 24 hours.");
  return (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000;
}

function offsetOf(timezone: string): number {
  if (timezone === "Z") return 0;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d(?=$)|\d{2})(?::?([0-5]\d))?$/.exec(timezone) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  if (sign === undefined || offset > largestOffset) throw invalid("The timezone of a maintenance window is an offset such as +02:00.");
  return sign === "-" ? -offset : offset;
}

function invalid(message: string, cause?: unknown): HarrierError {
  return new HarrierError("maintenanceScheduleInvalid", message, { cause });
}
