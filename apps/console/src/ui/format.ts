const locale = "en";
const numbers = new Intl.NumberFormat(locale);
const percents = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
const plurals = new Intl.PluralRules(locale);

/** Writes a whole number with its groups of thousands. */
export const count = (value: number): string => numbers.format(value);

/** Writes a share from 0 to 1. */
export const percent = (share: number): string => percents.format(share);

/** Chooses the word for a number, which it also writes: `plural(2, "device", "devices")` is "2 devices". */
export function plural(value: number, one: string, other: string): string {
  return `${count(value)} ${plurals.select(value) === "one" ? one : other}`;
}

const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** Writes bytes with three digits, in powers of 1000. */
export function bytes(value: number): string {
  let unit = 0;
  let rest = value;
  while (rest >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit++;
  }
  const digits = unit === 0 || rest >= 100 ? 0 : rest >= 10 ? 1 : 2;
  return `${rest.toFixed(digits)} ${units[unit]}`;
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600_000],
  ["month", 2_629_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** Writes how far a moment is from now, in its largest unit: "4 min. ago". */
export function ago(at: number, now: number): string {
  const distance = at - now;
  const [unit, size] = steps.find(([, ms]) => Math.abs(distance) >= ms) ?? ["second", 1000];
  return Math.abs(distance) < 2000 ? "now" : relative.format(Math.trunc(distance / size), unit);
}

/** Writes a span of milliseconds with two units at most: "1 h 52 min". */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3600), "h"],
    [Math.floor((seconds % 3600) / 60), "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const clocks = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** Writes a moment in the reader's time zone. */
export const moment = (at: number): string => moments.format(at);

/** Writes the time of day of a moment. */
export const clock = (at: number): string => clocks.format(at);
