import { type Queryable, run, runOne } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import { type CloudEvent, cloudEventOf, type OutboxRow } from "@harrier/events";
import type { RequestContext } from "@harrier/service";
import type { Cursor, Position, Source } from "./cursor.ts";
import { currentSnapshot, type PageRow, pages } from "./events.sql.ts";

/** A page looks at so many rows of all tenants, which takes some ten milliseconds. */
const maxScanned = 5_000;
/** A page is made of so many bytes of items as they are stored, but of one row at least, which has up to 10,000 items. */
const maxBytes = 256 * 1024;
const dayMs = 24 * 60 * 60_000;

export interface ReadOptions {
  readonly tenantId: number;
  readonly cursor: Cursor;
  /** Events of these types alone; undefined stands for all. */
  readonly types?: ReadonlySet<string> | undefined;
  readonly limit: number;
  /** Whether those about sets and modules are among them. */
  readonly catalogue: boolean;
}

/** Whether a caller may read of sets and modules. */
export function seesCatalogue({ permissions }: Pick<RequestContext["identity"], "permissions">): boolean {
  return permissions.includes("READ_REPOSITORY");
}

export interface EventsRead {
  /** CloudEvents, in the order of the changes of each subject. */
  readonly events: readonly CloudEvent[];
  readonly cursor: Cursor;
  /** True if the next page may be read at once. */
  readonly more: boolean;
}

/** Makes a cursor behind everything that has happened. */
export async function cursorOfNow(db: Queryable, now: () => number): Promise<Cursor> {
  const seen = (await runOne(db, currentSnapshot, []))?.now ?? "1:1:";
  return { at: now(), positions: { controller: { seen }, rollout_engine: { seen }, management: { seen } } };
}

/** Throws eventCursorExpired if events behind the cursor may be gone. */
export function requireKept(cursor: Cursor, { now, eventDays }: { now: () => number; eventDays: number }): void {
  if (cursor.at < now() - eventDays * dayMs) throw new HarrierError("eventCursorExpired");
}

/**
 * Reads the next events of a tenant behind a cursor: at most a third of them from the first outbox and half of the rest from the second, so
 * that none waits for the others to end, and of each a bounded number of rows, so that a page may be empty although there is more. The cursor is as old as the one before until it has caught up.
 */
export async function readEvents(db: Queryable, options: ReadOptions, now: () => number): Promise<EventsRead> {
  const { cursor, limit } = options;
  const at = now();
  const { positions: from } = cursor;
  const management = await readSource(db, {
    ...options,
    source: "management",
    from: from.management,
    limit: Math.max(1, Math.floor(limit / 3)),
  });
  let rest = limit - management.events.length;
  const engine = await readSource(db, { ...options, source: "rollout_engine", from: from.rollout_engine, limit: Math.floor(rest / 2) });
  rest -= engine.events.length;
  const controller = await readSource(db, { ...options, source: "controller", from: from.controller, limit: rest });
  const positions = { controller: controller.position, rollout_engine: engine.position, management: management.position };
  const more = Object.values(positions).some(({ reading }) => reading !== undefined);
  const events = [...management.events, ...controller.events, ...engine.events];
  return { events, cursor: { at: more ? cursor.at : at, positions }, more };
}

interface SourceRead {
  readonly events: readonly CloudEvent[];
  readonly position: Position;
}

async function readSource(
  db: Queryable,
  { tenantId, source, from, limit, types, catalogue }: ReadOptions & { source: Source; from: Position },
): Promise<SourceRead> {
  const { seen, reading } = from;
  const { upTo: until = null, row: begin = null } = reading ?? {};
  const answer = await run(db, pages[source], [tenantId, seen, until, begin, maxScanned, limit, maxBytes]);
  const [first] = answer;
  if (first === undefined) return { events: [], position: from };
  if (first.ahead) throw new HarrierError("eventCursorExpired");
  const events: CloudEvent[] = [];
  const { upTo } = first;
  for (const found of answer.filter(isRow)) {
    if (found.topic === "catalogue-events" && !catalogue) continue;
    const row = { ...found, at: found.at.getTime() };
    for (let item = row.id === reading?.row ? reading.items : 0; item < row.items.length; item += 1) {
      if (events.length === limit) return { events, position: { seen, reading: { upTo, row: row.id, items: item } } };
      const event = cloudEventOf(source, row, item);
      if (types === undefined || types.has(event.type)) events.push(event);
    }
  }
  return { events, position: positionBehind(seen, first) };
}

/** The position behind a page of which all events have been taken. */
function positionBehind(seen: string, { upTo, scanned, lastRow, leftOut }: PageRow): Position {
  if (leftOut !== null) return { seen, reading: { upTo, row: leftOut, items: 0 } };
  if (scanned < maxScanned || lastRow === null) return { seen: upTo };
  return { seen, reading: { upTo, row: String(BigInt(lastRow) + 1n), items: 0 } };
}

type Row = Omit<OutboxRow, "at"> & { at: Date };

function isRow(row: PageRow): row is PageRow & Row {
  return row.id !== null;
}
