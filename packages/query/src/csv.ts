/**
 * Escapes what a spreadsheet would run as a formula. A user who may create a target could otherwise write a formula into what an
 * administrator opens: such a value is exported behind an apostrophe, which spreadsheets take for "this is text", and loses it when it is
 * imported. A value that has apostrophes before it already gets one more, so that nothing is lost by an export and import.
 */
const formula = /^'*[=+\-@\t\r]/;

export function escapeFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Returns what `escapeFormula` was given. */
export function unescapeFormula(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text;
}

/** Writes one record (RFC 4180). Formulas are escaped; null is an empty cell. */
export function csvRecord(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: string | number | null): string {
  // a number is written by us, so a minus sign begins no formula
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = escapeFormula(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
