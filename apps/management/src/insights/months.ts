import type { Coverage, MonthsQuery } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";

/** Ten years are answered at most: a month is a row, and nobody draws more. */
export const maxMonths = 120;
/** So many months are answered unless the caller names a beginning. */
const defaultMonths = 12;

/** Counts months from year 0, so that they can be compared and subtracted. */
const numberOf = (text: string): number => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1;
const monthOf = (ms: number): number => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth();
const startOf = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12);
const textOf = (month: number): string => `${String(Math.floor(month / 12)).padStart(4, "0")}-${String((month % 12) + 1).padStart(2, "0")}`;

/** The first days of the first and the last month that a request is about. */
export interface Months {
  first: string;
  last: string;
}

/**
 * Reads which months a request is about (contract management.md §10.6): both ends are included; without an end the month of `now`, without a beginning
 * the eleven before the end. Throws constraintViolation if it begins after its end or has more than `maxMonths`.
 */
export function monthsOf({ startMonth, endMonth }: MonthsQuery, now: number): Months {
  const last = endMonth === undefined ? monthOf(now) : numberOf(endMonth);
  const first = startMonth === undefined ? last - defaultMonths + 1 : numberOf(startMonth);
  if (first > last) throw new HarrierError("constraintViolation", "startMonth must not be after endMonth.");
  if (last - first >= maxMonths) throw new HarrierError("constraintViolation", `At most ${maxMonths} months are answered at once.`);
  return { first: `${textOf(first)}-01`, last: `${textOf(last)}-01` };
}

export interface Known {
  /** `YYYY-MM`. */
  month: string;
  now: number;
  /** Since when everything is counted, in epoch ms. */
  beganAt: number;
  /** When the tenant was created: there was nothing before. */
  tenantSince: number;
}

/**
 * Answers how much is known of what happened in a month: all since the counting began or, if that was later, the tenant was created. What was before that is
 * unknown, and so is a month that has not begun.
 */
export function coverageOfEvents({ month, now, beganAt, tenantSince }: Known): Coverage {
  const at = numberOf(month);
  if (at > monthOf(now)) return "none";
  if (tenantSince >= beganAt) return at >= monthOf(tenantSince) ? "full" : "none";
  if (startOf(at) >= beganAt) return "full";
  return at === monthOf(beganAt) ? "partial" : "none";
}

/** Answers how much is known of a number at the end of a month: it is exact as soon as it is counted at all, even if the month began before. */
export function coverageOfLevel({ month, now, beganAt, tenantSince }: Known): Coverage {
  const at = numberOf(month);
  if (at > monthOf(now)) return "none";
  return at >= monthOf(Math.max(beganAt, tenantSince)) ? "full" : "none";
}
