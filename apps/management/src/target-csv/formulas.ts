/**
 * What a spreadsheet would run. Who may create a target could otherwise write into what an administrator opens: such a value goes out
 * behind an apostrophe, which spreadsheets take for "this is text", and loses it where it comes back in. One that has apostrophes before it already gets one
 * more, so that nothing is lost by a round trip.
 */
const formula = /^'*[=+\-@\t\r]/;

export function escapeFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** What `escapeFormula` was given. */
export function unescapeFormula(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text;
}
