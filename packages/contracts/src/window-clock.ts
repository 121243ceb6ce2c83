import type { QuartzCron } from "./quartz-cron.ts";

/** A clock that only runs inside the windows of a schedule. */
export interface WindowClock {
  /**
   * Answers the moment at which the clock has run for `amountMs` since it began. Without a further window it is the end of the last one. What is not
   * reached at the horizon is answered with the horizon: it is not over before.
   */
  readonly reached: (sinceMs: number, amountMs: number, horizonMs: number) => number;
  /** How many numbers it keeps. */
  readonly size: number;
}

const dayMs = 86_400_000;

/** The open times of a day in ms since its midnight: starts and ends by turns, ascending, without overlaps. */
interface OpenTimes {
  readonly ends: Uint32Array;
  readonly total: number;
}

/**
 * Makes the clock of a schedule whose windows have a length below 24 hours. All days of a schedule have the same times, and what is open on a day depends
 * on whether it and the day before belong to the schedule. So days are counted, not windows, of which there may be one every other second.
 */
export function windowClock({
  cron,
  length,
  offset,
}: {
  readonly cron: QuartzCron;
  readonly length: number;
  readonly offset: number;
}): WindowClock {
  const ends = windowsOfDay(cron, length);
  const own = openTimes(ends, 0);
  const carried = openTimes(ends, dayMs);
  const both = carried.ends.length === 0 ? own : union(own, carried);
  const size = own.ends.length + carried.ends.length + both.ends.length;

  function reached(sinceMs: number, amountMs: number, horizonMs: number): number {
    let left = amountMs;
    let last = sinceMs;
    for (let day = Math.floor((sinceMs + offset) / dayMs); ; day += 1) {
      // The windows of the day before may reach into this one.
      const first = cron.dayFrom(day - 1);
      if (first === undefined) return last;
      day = Math.max(day, first);
      const midnight = day * dayMs - offset;
      if (midnight > horizonMs) return horizonMs;
      const open = first === day ? own : cron.dayFrom(day) === day ? both : carried;
      if (midnight >= sinceMs && left > open.total) {
        left -= open.total;
        if (open.ends.length > 0) last = midnight + (open.ends.at(-1) as number);
        continue;
      }
      for (let n = 0; n < open.ends.length; n += 2) {
        const end = midnight + (open.ends[n + 1] as number);
        if (end < sinceMs) continue;
        const start = Math.max(midnight + (open.ends[n] as number), sinceMs);
        if (end - start >= left) return start + left;
        left -= end - start;
        last = end;
      }
    }
  }

  return { reached, size };
}

/** The windows that start on a day, in ms since its midnight; the last ones may end on the next day. */
function windowsOfDay({ time }: QuartzCron, length: number): number[] {
  const ends: number[] = [];
  for (const hour of time.hours)
    for (const minute of time.minutes) for (const second of time.seconds) add(ends, ((hour * 60 + minute) * 60 + second) * 1_000, length);
  return ends;
}

/** Adds a window to those that start before it, or at the same time. */
function add(ends: number[], start: number, length: number): void {
  const last = ends.length - 1;
  if (last > 0 && start <= (ends[last] as number)) ends[last] = Math.max(ends[last] as number, start + length);
  else ends.push(start, start + length);
}

/** What falls into the day that begins at `from`. */
function openTimes(ends: readonly number[], from: number): OpenTimes {
  const cut: number[] = [];
  for (let n = 0; n < ends.length; n += 2) {
    const start = Math.max(ends[n] as number, from);
    const end = Math.min(ends[n + 1] as number, from + dayMs);
    if (start < from + dayMs && end >= start && (end > from || from === 0)) add(cut, start - from, end - start);
  }
  return summed(cut);
}

/** What is open at either of two times. */
function union(a: OpenTimes, b: OpenTimes): OpenTimes {
  const ends: number[] = [];
  for (let [i, j] = [0, 0]; i < a.ends.length || j < b.ends.length; ) {
    const [next, n] = (a.ends[i] ?? Infinity) <= (b.ends[j] ?? Infinity) ? [a.ends, i] : [b.ends, j];
    add(ends, next[n] as number, (next[n + 1] as number) - (next[n] as number));
    if (next === a.ends) i += 2;
    else j += 2;
  }
  return summed(ends);
}

function summed(ends: readonly number[]): OpenTimes {
  let total = 0;
  for (let n = 0; n < ends.length; n += 2) total += (ends[n + 1] as number) - (ends[n] as number);
  return { ends: Uint32Array.from(ends), total };
}
