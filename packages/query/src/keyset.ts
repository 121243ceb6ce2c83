import { createHash } from "node:crypto";
import { HarrierError, violationsInfo } from "@harrier/errors";
import { readOpaque, writeOpaque } from "./opaque.ts";

/** The place behind a row in an order: the values of the order's columns, as PostgreSQL writes them. */
export type Position = readonly (string | null)[];

/** One column of an order. */
interface Criterion {
  column: string;
  descending: boolean;
}

/** Takes an order apart, as `orderBy` of packages/fiql makes it: columns, or expressions in brackets. Throws a TypeError for anything else. */
function criteriaOf(orderBy: string): Criterion[] {
  return orderBy.split(", ").map((text) => {
    const [, column, direction] = /^(t\.\w+|\(.*\)) (asc|desc)$/s.exec(text) ?? [];
    if (column === undefined) throw new TypeError(`no position in the order of ${text}`);
    return { column, descending: direction === "desc" };
  });
}

/** Selects the position of a row. */
export const positionColumn = (orderBy: string): string =>
  `array[${criteriaOf(orderBy)
    .map(({ column }) => `${column}::text`)
    .join(", ")}]`;

/** An order is known by this much of its hash, so that a cursor fits only the sort that it came from. */
const nameOf = (orderBy: string): string => createHash("sha256").update(orderBy).digest("base64url").slice(0, 8);

/** Writes a position as an opaque text for URLs. */
export const writeCursor = (orderBy: string, position: Position): string => writeOpaque([nameOf(orderBy), ...position]);

/** The error of a cursor that is none, or is one of another sort. */
export function foreignCursor(cause?: unknown): HarrierError {
  const problem = "must be the next of a page with the same sort";
  const info = violationsInfo([{ path: "after", problem }]);
  return new HarrierError("constraintViolation", `after ${problem}.`, { info, ...(cause === undefined ? {} : { cause }) });
}

/** Reads a cursor of this order; throws constraintViolation for any other text. */
export function readCursor(orderBy: string, text: string): Position {
  const [name, ...position] = readOpaque(text) ?? [];
  const fits = position.length === criteriaOf(orderBy).length && position.every((key) => key === null || typeof key === "string");
  if (name !== nameOf(orderBy) || !fits) throw foreignCursor();
  return position as (string | null)[];
}

interface Placed extends Criterion {
  /** The placeholder of the value; undefined for null. */
  value: string | undefined;
  nullable: boolean;
}

/**
 * Makes the condition that holds for the rows behind a position, for any mix of directions and nulls (which PostgreSQL puts last in ascending and first
 * in descending order). It begins with a range of the first column wherever there is one, so that an index over the order is entered at the position.
 */
export function behind(
  orderBy: string,
  position: Position,
  { nullable = [], firstParam }: { nullable?: readonly string[] | undefined; firstParam: number },
): { sql: string; values: string[] } {
  const values: string[] = [];
  const placed = criteriaOf(orderBy).map((criterion, i): Placed => {
    const key = position[i] ?? null;
    const value = key === null ? undefined : `$${firstParam + values.push(key) - 1}`;
    return { ...criterion, value, nullable: nullable.includes(criterion.column) };
  });
  return { sql: oneDirection(placed) ? rowBehind(placed) : `(${[...range(placed), stepwise(placed)].join(" and ")})`, values };
}

/** Nulls that stand behind a value are beyond any comparison with it. */
const nullsBehind = ({ descending, nullable }: Placed): boolean => nullable && !descending;

const oneDirection = (placed: readonly Placed[]): boolean =>
  placed.every((key) => key.value !== undefined && key.descending === placed[0]?.descending && !nullsBehind(key));

/** PostgreSQL enters an index with one comparison of whole rows. */
const rowBehind = (placed: readonly Placed[]): string =>
  `(${placed.map(({ column }) => column).join(", ")}) ${placed[0]?.descending ? "<" : ">"} (${placed.map(({ value }) => value).join(", ")})`;

function range([head]: readonly Placed[]): string[] {
  if (head?.value === undefined || nullsBehind(head)) return [];
  return [`${head.column} ${head.descending ? "<=" : ">="} ${head.value}`];
}

function stepwise([head, ...rest]: readonly Placed[]): string {
  if (head === undefined) return "false";
  const { column, value } = head;
  const same = value === undefined ? `${column} is null` : `${column} = ${value}`;
  return rest.length === 0 ? strictly(head) : `(${strictly(head)} or (${same} and ${stepwise(rest)}))`;
}

function strictly(key: Placed): string {
  const { column, descending, value } = key;
  if (value === undefined) return descending ? `${column} is not null` : "false";
  if (descending) return `${column} < ${value}`;
  return nullsBehind(key) ? `(${column} > ${value} or ${column} is null)` : `${column} > ${value}`;
}
