import { parseWith, type TargetCreate, targetCreate, targetCsvInput, targetCsvOutput } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { checkAddress } from "../targets/address.ts";
import { unescapeFormula } from "./formulas.ts";

const known: ReadonlySet<string> = new Set([...targetCsvInput, ...targetCsvOutput]);

/** The names of the columns, in any order. One that is misspelt would be left out of every target: it is refused. */
export function readHeader(names: readonly string[]): string[] {
  const columns = names.map((name) => name.trim());
  const refuse = (why: string) => new HarrierError("constraintViolation", why);
  for (const column of columns) if (!known.has(column)) throw refuse(`There is no column '${column.slice(0, 64)}'.`);
  if (new Set(columns).size < columns.length) throw refuse("A column is there twice.");
  if (!columns.includes("controllerId")) throw refuse("The column 'controllerId' is missing.");
  return columns;
}

/** One record as the body of a create; an empty cell is a member that is not given. */
export function targetOf(record: Readonly<Record<string, string>>): TargetCreate {
  const cells = targetCsvInput.map((column) => [column, unescapeFormula(record[column] ?? "")] as const);
  const given: Record<string, unknown> = Object.fromEntries(cells.filter(([, text]) => text !== ""));
  const type = given["targetType"];
  if (typeof type === "string" && /^\d{1,15}$/.test(type)) given["targetType"] = Number(type);
  // as a query: what is wrong is told, where an unreadable body only gets a fixed text
  const target = parseWith(targetCreate, given, "query");
  checkAddress(target.address);
  return target;
}
