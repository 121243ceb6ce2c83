import { Cron } from "croner";

/** A Quartz schedule that is evaluated in UTC. */
export interface QuartzCron {
  /** Answers the first time of the schedule after `ms`, never `ms` itself. */
  readonly after: (ms: number) => number | undefined;
  /** Answers the last time of a schedule that names its years; undefined if it has no end. */
  readonly last: () => number | undefined;
  /** The times of day, which are the same on every day of the schedule: each second of each minute of each hour, ascending. */
  readonly time: { readonly hours: readonly number[]; readonly minutes: readonly number[]; readonly seconds: readonly number[] };
  /** Answers the first day of the schedule that is `day` or later, in days since 1970; undefined if none comes. */
  readonly dayFrom: (day: number) => number | undefined;
}

const dayMs = 86_400_000;
/** So many answers of `dayFrom` are kept of a schedule: it is asked for one day after the other, again and again. */
const maxKnownDays = 1_000;

/** The schedules of Quartz end with this year too. */
const years = { min: 1970, max: 2099 };
const endOfYears = new Date("2100-01-01T00:00:00Z");

const monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const dayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/** The shortest month has no day further than this before its last day. */
const largestLastDayOffset = 27;

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of the values; the first one stands for the value 1. */
  readonly names?: readonly string[];
  /** Translates elements that are more than numbers into the syntax of the library. */
  readonly special?: (element: string) => string | undefined;
}

const second: Field = { name: "seconds", min: 0, max: 59 };
const minute: Field = { name: "minutes", min: 0, max: 59 };
const hour: Field = { name: "hours", min: 0, max: 23 };
const dayOfMonth: Field = { name: "day of month", min: 1, max: 31, special: specialDayOfMonth };
const month: Field = { name: "month", min: 1, max: 12, names: monthNames };
const dayOfWeek: Field = { name: "day of week", min: 1, max: 7, names: dayNames, special: specialDayOfWeek };
const year: Field = { name: "year", ...years };

/**
 * Parses a schedule in the syntax of Quartz (contract management.md §5.6): seconds first, six fields or seven with the year, one of the two day
 * fields is `?`. Everything that the library writes differently is translated first: `0/15`, ranges over the turn of the week or year, `L` alone as
 * day of the week, `L-3`. Throws an Error that says which field is wrong.
 */
export function quartzCron(expression: string): QuartzCron {
  const parts = expression.trim().toUpperCase().split(/\s+/);
  if (parts.length !== 6 && parts.length !== 7) throw new Error("it must have 6 or 7 fields");
  const [s, m, h, day, mon, weekday, yyyy = "*"] = parts as [string, string, string, string, string, string, string?];
  if ((day === "?") === (weekday === "?")) throw new Error("exactly one of day of month and day of week must be ?");
  const fromLast = /^L-(\d{1,2})$/.exec(day);
  const fields = [
    numbers(second, s),
    numbers(minute, m),
    numbers(hour, h),
    fromLast === null ? days(dayOfMonth, day) : "L",
    numbers(month, mon),
    days(dayOfWeek, weekday),
    numbers(year, yyyy),
  ];
  const plain = { mode: "7-part", alternativeWeekdays: true, utcOffset: 0 } as const;
  const options = fromLast === null ? plain : { ...plain, dayOffset: -lastDayOffset(fromLast[1] as string) };
  const cron = new Cron(fields.join(" "), options);
  const everyDay = fromLast === null && fields.slice(3).every((field) => field === "*");
  return {
    time: { hours: ascending(hour, fields[2]), minutes: ascending(minute, fields[1]), seconds: ascending(second, fields[0]) },
    dayFrom: everyDay ? (day) => day : daysOf(() => new Cron(["0 0 0", ...fields.slice(3)].join(" "), options)),
    after: (ms) => cron.nextRun(new Date(ms))?.getTime(),
    last: () => (fields[6] === "*" ? undefined : cron.previousRuns(1, endOfYears)[0]?.getTime()),
  };
}

/** Asks a schedule of midnights for its days. It is made when it is needed: most windows are daily, or nobody asks for their days. */
function daysOf(make: () => Cron): (day: number) => number | undefined {
  let midnights: Cron | undefined;
  const known = new Map<number, number | undefined>();
  return (day) => {
    if (known.has(day)) return known.get(day);
    if (known.size >= maxKnownDays) known.clear();
    midnights ??= make();
    const next = midnights.nextRun(new Date(day * dayMs - 1_000));
    const found = next === null ? undefined : Math.floor(next.getTime() / dayMs);
    known.set(day, found);
    return found;
  };
}

/** The values of a field that was translated to numbers. */
function ascending({ min, max }: Field, text = "*"): readonly number[] {
  if (text === "*") return Array.from({ length: max - min + 1 }, (_, n) => min + n);
  return [...new Set(text.split(",").map(Number))].sort((a, b) => a - b);
}

function lastDayOffset(text: string): number {
  const offset = Number(text);
  if (offset > largestLastDayOffset) throw new Error(`the field day of month (L-${text}) is out of range`);
  return offset;
}

function days(field: Field, text: string): string {
  return text === "?" ? "*" : numbers(field, text);
}

function numbers(field: Field, text: string): string {
  if (text === "*") return "*";
  const elements = text.split(",").map((element) => field.special?.(element) ?? values(field, element).join(","));
  return elements.join(",");
}

/** Reads `5`, `1-5`, `*` and any of them with a step; a single number with a step goes on to the end of the field. */
function values(field: Field, element: string): number[] {
  const [range, step, more] = element.split("/") as [string, string?, string?];
  if (more !== undefined) throw wrong(field, element);
  const every = step === undefined ? 1 : plainNumber(step);
  if (every === undefined || every < 1 || every > field.max) throw wrong(field, element);
  const [from, to] = bounds(field, range, step !== undefined);
  if (from === undefined || to === undefined) throw wrong(field, element);
  // years do not repeat, but days, months and hours do
  if (from > to && field === year) throw wrong(field, element);
  const size = field.max - field.min + 1;
  const count = from <= to ? to - from : to + size - from;
  const found: number[] = [];
  for (let at = 0; at <= count; at += every) found.push(((from - field.min + at) % size) + field.min);
  return found;
}

function bounds(field: Field, range: string, stepped: boolean): readonly [number | undefined, number | undefined] {
  if (range === "*" || (range === "" && stepped)) return [field.min, field.max];
  const [first, last, more] = range.split("-") as [string, string?, string?];
  if (more !== undefined) return [undefined, undefined];
  const from = numberOf(field, first);
  if (last !== undefined) return [from, numberOf(field, last)];
  return [from, stepped ? field.max : from];
}

function numberOf(field: Field, text: string): number | undefined {
  const named = field.names?.indexOf(text) ?? -1;
  const value = named >= 0 ? named + 1 : plainNumber(text);
  return value !== undefined && value >= field.min && value <= field.max ? value : undefined;
}

function plainNumber(text: string): number | undefined {
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}

/** Reads `L` as last day, `LW` as last weekday, `15W` as the weekday nearest to the 15th. */
function specialDayOfMonth(element: string): string | undefined {
  if (element === "L" || element === "LW") return element;
  const nearest = /^(\d{1,2})W$/.exec(element)?.[1];
  if (nearest === undefined) return undefined;
  if (numberOf(dayOfMonth, nearest) === undefined) throw wrong(dayOfMonth, element);
  return element;
}

/** Reads `L` as Saturday, `6L` as last Friday of the month, `6#3` as third Friday of the month. */
function specialDayOfWeek(element: string): string | undefined {
  if (element === "L") return "7";
  const parts = /^([A-Z]{3}|\d)(L|#[1-5])$/.exec(element);
  if (parts === null) return undefined;
  const value = numberOf(dayOfWeek, parts[1] as string);
  if (value === undefined) throw wrong(dayOfWeek, element);
  return `${value}${parts[2]}`;
}

function wrong(field: Field, element: string): Error {
  return new Error(`the field ${field.name} (${element}) is not valid`);
}
