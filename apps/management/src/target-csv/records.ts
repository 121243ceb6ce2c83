import { parseWith, type TargetCreate, targetCreate, targetCsvInput, targetCsvOutput } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { unescapeFormula } from "@harrier/query";
import { checkAddress } from "../targets/address.ts";

const known: ReadonlySet<string> = new Set([...targetCsvInput, ...targetCsvOutput]);

/**
 * Checks the names of the columns, which may be in any order. A misspelt column is refused, because it would otherwise be missing in every
 * target.
 */
export function readHeader(names: readonly string[]): string[] {
  const columns = names.map((name) => name.trim());
  const refuse = (why: string) => new HarrierError("constraintViolation", why);
  for (const column of columns) if (!known.has(column)) throw refuse(`There is no column '${column.slice(0, 64)}'.`);
  if (new Set(columns).size < columns.length) throw refuse("A column is there twice.");
  if (!columns.includes("controllerId")) throw refuse("The column 'controllerId' is missing.");
  return columns;
}

/** Returns one record as the body of a creation; an empty cell is a member that is not given. */
export function targetOf(record: Readonly<Record<string, string>>): TargetCreate {
  const cells = targetCsvInput.map((column) => [column, unescapeFormula(record[column] ?? "")] as const);
  const given: Record<string, unknown> = Object.fromEntries(cells.filter(([, text]) => text !== ""));
  const type = given["targetType"];
  if (typeof type === "string" && /^\d{1,15}$/.test(type)) given["targetType"] = Number(type);
  // The record is checked like a query, because its errors are reported, while an unreadable body only gets a fixed text.
  const target = parseWith(targetCreate, given, "query");
  checkAddress(target.address);
  return target;
}
