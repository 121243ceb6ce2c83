import { type Queryable, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { expand, type OutboxRow } from "@harrier/events";
import { type Cursor, type Position, type Source, sources } from "./cursor.ts";
import { currentSnapshot, type PageRow, pages } from "./events.sql.ts";

/** A page looks at so many rows of all tenants, which takes some ten milliseconds. */
const maxRows = 5_000;
/** Outboxes keep their rows for two days at least (docs/architecture.md). */
const keptMs = 2 * 24 * 60 * 60_000;

export interface ReadOptions {
  readonly tenantId: number;
  readonly cursor: Cursor;
  /** Events of these types alone; undefined stands for all. */
  readonly types?: ReadonlySet<string> | undefined;
  readonly limit: number;
}

export interface EventsRead {
  /** CloudEvents, in the order of the changes of each subject. */
  readonly events: readonly object[];
  readonly cursor: Cursor;
  /** True if the next page may be read at once. */
  readonly more: boolean;
}

/** Makes a cursor behind everything that has happened. */
export async function cursorOfNow(db: Queryable, now: () => number): Promise<Cursor> {
  const seen = (await runOne(db, currentSnapshot, []))?.now ?? "1:1:";
  return { at: now(), positions: { controller: { seen }, rollout_engine: { seen } } };
}

/** Throws eventCursorExpired if events behind the cursor may be gone. */
export function requireKept(cursor: Cursor, now: number): void {
  if (cursor.at < now - keptMs) throw new HarrierError("eventCursorExpired");
}

/**
 * Reads the next events of a tenant behind a cursor: each outbox in turn, and of each a bounded number of rows, so that a page may be empty although
 * there is more.
 */
export async function readEvents(db: Queryable, options: ReadOptions, now: () => number): Promise<EventsRead> {
  const events: object[] = [];
  const positions: Record<Source, Position> = { ...options.cursor.positions };
  let more = false;
  const at = now();
  for (const source of sources) {
    if (events.length >= options.limit) {
      more = true;
      break;
    }
    const read = await readSource(db, { ...options, source, from: positions[source], limit: options.limit - events.length });
    events.push(...read.events);
    positions[source] = read.position;
    more ||= read.position.reading !== undefined;
  }
  return { events, cursor: { at, positions }, more };
}

interface SourceRead {
  readonly events: readonly object[];
  readonly position: Position;
}

async function readSource(
  db: Queryable,
  { tenantId, source, from, limit, types }: ReadOptions & { source: Source; from: Position },
): Promise<SourceRead> {
  const { seen, reading } = from;
  const skip = reading?.items ?? 0;
  const answer = await run(db, pages[source], [tenantId, seen, reading?.upTo ?? null, reading?.row ?? null, maxRows, limit + skip]);
  const [first] = answer;
  if (first === undefined) return { events: [], position: from };
  const events: object[] = [];
  const { upTo } = first;
  for (const row of answer.filter(isRow)) {
    const begin = row.id === reading?.row ? skip : 0;
    const expanded = expand(source, { ...row, at: row.at.getTime() });
    for (let item = begin; item < expanded.length; item += 1) {
      if (events.length === limit) return { events, position: { seen, reading: { upTo, row: row.id, items: item } } };
      const event = JSON.parse((expanded[item] as { value: string }).value) as { type: string };
      if (types === undefined || types.has(event.type)) events.push(event);
    }
  }
  return { events, position: positionBehind(seen, first) };
}

/** The position behind a page of which all events have been taken. */
function positionBehind(seen: string, { upTo, scanned, lastRow, leftOut }: PageRow): Position {
  if (leftOut !== null) return { seen, reading: { upTo, row: leftOut, items: 0 } };
  if (scanned < maxRows || lastRow === null) return { seen: upTo };
  return { seen, reading: { upTo, row: String(BigInt(lastRow) + 1n), items: 0 } };
}

type Row = Omit<OutboxRow, "at"> & { at: Date };

function isRow(row: PageRow): row is PageRow & Row {
  return row.id !== null;
}
