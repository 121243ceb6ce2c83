import { HarrierError } from "@harrier/errors";

/** How often a device shall poll, and the jitter. */
export interface PollInterval {
  readonly seconds: number;
  readonly jitterPercent: number;
}

/** Another interval for the targets that match a query. */
export interface PollOverride extends PollInterval {
  readonly query: string;
}

export interface PollingTime {
  readonly interval: PollInterval;
  /** The first override that matches applies. */
  readonly overrides: readonly PollOverride[];
}

/** The limits of every interval, both inclusive (contract device.md §3.4). */
export const pollIntervalLimits = { min: 30, max: 86_399 } as const;

/**
 * Parses the tenant setting `pollingTime`: `<interval>[~<p>%]{, <target query> -> <interval>[~<p>%]}` (contract device.md §3.4). The first comma
 * ends the default, each query ends at the next `->` and its interval at the next comma; so a query may contain commas. The queries are not parsed
 * here. Throws configValueInvalid.
 */
export function parsePollingTime(text: string): PollingTime {
  const [first, rest] = cut(text, ",");
  const interval = pollInterval(first);
  const overrides: PollOverride[] = [];
  for (let left = rest; left !== undefined; ) {
    const [query, behind] = cut(left, "->");
    if (behind === undefined) throw invalid(`'${left.trim()}' lacks '-> <interval>'`);
    if (query.trim() === "") throw invalid(`an override lacks its query`);
    const [value, next] = cut(behind, ",");
    overrides.push({ query: query.trim(), ...pollInterval(value) });
    left = next;
  }
  return { interval, overrides };
}

/** Writes HH:mm:ss, which devices read (contract device.md §3.4). */
export function hoursMinutesSeconds(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function cut(text: string, at: string): readonly [string, string | undefined] {
  const place = text.indexOf(at);
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + at.length)];
}

function pollInterval(text: string): PollInterval {
  const [, duration = "", percent = "0"] = /^(.*?)(?:\s*~\s*(\d{1,2})%)?$/s.exec(text.trim()) ?? [];
  const seconds = secondsOfColons(duration) ?? secondsOfIso(duration);
  if (seconds === undefined) throw invalid(`'${text.trim()}' is not of the form HH:MM:SS, optionally with a spread such as ~10%`);
  if (seconds < pollIntervalLimits.min || seconds > pollIntervalLimits.max) {
    const [min, max] = [pollIntervalLimits.min, pollIntervalLimits.max].map(hoursMinutesSeconds);
    throw invalid(`'${text.trim()}' is not between ${min} and ${max}`);
  }
  return { seconds, jitterPercent: Number(percent) };
}

/** Reads `HH:mm:ss`, `mm:ss` or `ss`. */
function secondsOfColons(text: string): number | undefined {
  const [, hours = "0", minutes = "0", seconds] = /^(?:(?:([01]\d|2[0-3]):)?([0-5]\d):)?([0-5]\d)$/.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
}

/** Reads `PT` with hours, minutes and seconds, each of which may be absent. */
function secondsOfIso(text: string): number | undefined {
  const [all, hours = "0", minutes = "0", seconds = "0"] = /^PT(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?$/i.exec(text) ?? [];
  return all === undefined ? undefined : Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
}

function invalid(what: string): HarrierError {
  return new HarrierError("configValueInvalid", `The polling time is not valid: ${what}.`);
}
