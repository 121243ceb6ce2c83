/** The columns that an import reads, and those of an export that it passes over; a test compares them with the contract, whose schemas stay out of the page. */
export const readColumns = ["controllerId", "name", "description", "address", "securityToken", "targetType"];
export const passedColumns = [
  "targetTypeName",
  "updateStatus",
  "lastControllerRequestAt",
  "installedAt",
  "createdBy",
  "createdAt",
  "lastModifiedBy",
  "lastModifiedAt",
];

/** A larger file is sent without a look into it: reading it would cost the page its memory. */
export const lookedAtMost = 64 * 1024 * 1024;

/** What a file would bring, as far as it can be told before it is sent. */
export interface CsvLook {
  /** Records behind the line of the columns; empty lines are none. */
  readonly records: number;
  /** Columns that are read. */
  readonly columns: readonly string[];
  /** A name that the server knows no column of, by which it refuses the file. */
  readonly unknown?: string | undefined;
  readonly hasId: boolean;
}

/** The first line, and how many records are behind it: a line that ends within quotes goes on. */
function split(text: string): { head: string; records: number } {
  let head: string | undefined;
  let [records, from, isQuoted] = [0, 0, false];
  for (let at = 0; at <= text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') isQuoted = !isQuoted;
    if (at < text.length && (character !== "\n" || isQuoted)) continue;
    const line = text.slice(from, at).trim();
    if (line !== "" && head === undefined) head = line;
    else if (line !== "") records++;
    from = at + 1;
  }
  return { head: head ?? "", records };
}

/** Looks into a file of devices. */
export function lookAt(text: string): CsvLook {
  const { head, records } = split(text.replace(/^\uFEFF/, ""));
  const names = head.split(",").map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
  return {
    records,
    columns: names.filter((name) => readColumns.includes(name)),
    unknown: names.find((name) => !readColumns.includes(name) && !passedColumns.includes(name)),
    hasId: names.includes("controllerId"),
  };
}
