import { HarrierError, violationsInfo } from "@harrier/errors";
import { readOpaque, writeOpaque } from "@harrier/query";

/** The outboxes that events come from, by the schema of their service. */
export const sources = ["controller", "rollout_engine", "management"] as const;
export type Source = (typeof sources)[number];

/** A row of an outbox has at most so many items. */
const maxItems = 10_000;

/** How far one outbox has been read. */
export interface Position {
  /** Everything that was visible in this snapshot has been read. */
  readonly seen: string;
  /** While not everything of the next snapshot has been read: that snapshot, the row to go on with, and how many of its items have been read. */
  readonly reading?: { readonly upTo: string; readonly row: string; readonly items: number };
}

/** A cursor is a position in each outbox. */
export interface Cursor {
  /** Epoch ms of its making: events are kept for days only. */
  readonly at: number;
  readonly positions: Readonly<Record<Source, Position>>;
}

/** Answers the opaque text of a cursor. */
export function encodeCursor({ at, positions }: Cursor): string {
  const parts = sources.map((source) => {
    const { seen, reading } = positions[source];
    return reading === undefined ? [seen] : [seen, reading.upTo, reading.row, reading.items];
  });
  return writeOpaque([at, ...parts]);
}

/** Reads the text of a cursor; throws a violation of the query if it is none. */
export function decodeCursor(text: string): Cursor {
  const parts = [...(readOpaque(text) ?? [])];
  const at = parts[0];
  // a cursor of the time before management had an outbox goes on there from the place that it has in controller's: all snapshots are of one database
  if (parts.length === sources.length && Array.isArray(parts[1])) parts.push([parts[1][0]]);
  if (parts.length !== sources.length + 1 || typeof at !== "number" || !Number.isSafeInteger(at)) throw noCursor();
  const positions = Object.fromEntries(sources.map((source, i) => [source, positionOf(parts[i + 1])])) as Cursor["positions"];
  return { at, positions };
}

function positionOf(part: unknown): Position {
  if (!Array.isArray(part) || !isSnapshot(part[0])) throw noCursor();
  const [seen, upTo, row, items] = part as [string, unknown, unknown, unknown];
  if (part.length === 1) return { seen };
  const isRow = typeof row === "string" && /^\d{1,18}$/.test(row);
  if (
    part.length !== 4 ||
    !isSnapshot(upTo) ||
    !isRow ||
    typeof items !== "number" ||
    !Number.isInteger(items) ||
    items < 0 ||
    items > maxItems
  )
    throw noCursor();
  return { seen, reading: { upTo, row, items } };
}

/** PostgreSQL refuses a snapshot whose transactions are not in order, so nothing else may reach it. */
function isSnapshot(value: unknown): value is string {
  if (typeof value !== "string" || !/^\d{1,18}:\d{1,18}:(\d{1,18}(,\d{1,18})*)?$/.test(value)) return false;
  const [min = "", max = "", running = ""] = value.split(":");
  const order = [min, ...(running === "" ? [] : running.split(",")), max].map(BigInt);
  return order[0] !== 0n && order.every((id, i) => i === 0 || (order[i - 1] as bigint) <= id) && isStrict(order);
}

/** The first running transaction may be the lowest one; no other number may come twice, and none may be the upper bound. */
function isStrict(order: readonly bigint[]): boolean {
  const running = order.slice(1, -1);
  return running.every((id, i) => id < (order.at(-1) as bigint) && (i === 0 || id > (running[i - 1] as bigint)));
}

function noCursor(): HarrierError {
  const info = violationsInfo([{ path: "after", problem: "is not a cursor of an earlier answer" }]);
  return new HarrierError("constraintViolation", "after is not a cursor of an earlier answer.", { info });
}
