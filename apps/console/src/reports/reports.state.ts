/** A month of a report; what is not known is absent. */
export interface Month {
  readonly month: string;
  readonly coverage: string;
}

export interface Series<Row> {
  readonly label: string;
  /** The colour, a variable of tokens.css. */
  readonly colour: string;
  readonly value: (row: Row) => number | undefined;
}

const monthText = /^\d{4}-(0[1-9]|1[0-2])$/;

/** A month of the address; what is none is left out, so that the server is not asked for it. */
export const monthOf = (text: string | undefined): string | undefined => (text !== undefined && monthText.test(text) ? text : undefined);

/** The seconds at which a month begins, as the axis of time counts them. */
export const secondsOf = (month: string): number => Date.parse(`${month}-01T00:00:00Z`) / 1000;

const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The table of a report as CSV; what is not known is empty. */
export function csvOf<Row extends Month>(head: string, rows: readonly Row[], series: readonly Series<Row>[]): string {
  const lines = rows.map((row) => [row.month, ...series.map(({ value }) => String(value(row) ?? ""))]);
  return [[head, ...series.map(({ label }) => label)], ...lines].map((line) => line.map(quoted).join(",")).join("\n");
}
