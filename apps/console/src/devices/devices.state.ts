/** Columns that are shown unless the address of the page says others. */
export const initialColumns = ["name", "status", "type", "installed", "action", "poll"] as const;
export const allColumns = ["name", "status", "type", "installed", "assigned", "action", "poll", "address", "tags"] as const;
export type ColumnId = (typeof allColumns)[number];

/** Reads the columns of the address; the name is always there, and unknown words are passed over. */
export function columnsOf(text: string | undefined): ColumnId[] {
  if (text === undefined) return [...initialColumns];
  const asked = new Set(text.split(","));
  return allColumns.filter((id) => id === "name" || asked.has(id));
}

/** Writes columns for the address; the initial ones need no word. */
export function columnsText(columns: readonly ColumnId[]): string | undefined {
  const text = allColumns.filter((id) => columns.includes(id)).join(",");
  return text === allColumns.filter((id) => (initialColumns as readonly string[]).includes(id)).join(",") ? undefined : text;
}

/** The condition that finds the targets of a value of a facet; undefined where queries cannot ask for it. */
export function conditionOf(by: string, value: string): string | undefined {
  const quoted = /^[\w.-]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
  if (by === "updatestatus") return `updatestatus==${quoted}`;
  if (by === "targettype") return `targettype.key==${quoted}`;
  if (by === "tag") return `tag==${quoted}`;
  if (by === "installedds") return `installedds.id==${quoted}`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the server puts the moment in
  if (by === "overdue") return value === "true" ? "lastcontrollerrequestat=le=${OVERDUE_TS}" : "lastcontrollerrequestat=gt=${OVERDUE_TS}";
  return undefined;
}

/** Filters that the page offers, by their names in `devices.ready`. */
export const readyQueries = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the server puts the moment in
  ["overdue", "lastcontrollerrequestat=le=${OVERDUE_TS}"],
  ["failed", "updatestatus==error"],
  ["never", "lastcontrollerrequestat=is=null"],
] as const;
