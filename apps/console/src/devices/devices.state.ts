/** Columns that are shown unless the address of the page says others. */
export const initialColumns = ["name", "status", "type", "installed", "action", "poll"] as const;
export const allColumns = ["name", "status", "type", "installed", "assigned", "action", "poll", "address", "tags"] as const;
type KnownColumn = (typeof allColumns)[number];
/** A column of what devices say about themselves; the key is behind the dot as it is. */
export type AttributeColumn = `attribute.${string}`;
export type ColumnId = KnownColumn | AttributeColumn;

/** So many attributes are shown at once: each row asks for them. */
export const attributesMost = 8;
const start = "attribute.";

export const isAttribute = (id: string): id is AttributeColumn => id.startsWith(start) && id.length > start.length;
/** The key of the attribute that a column shows. */
export const keyOf = (id: AttributeColumn): string => id.slice(start.length);

/** An attribute in the address, whose key may hold commas; one that cannot be read is none. */
function attributeOf(text: string): AttributeColumn[] {
  try {
    const id = decodeURIComponent(text);
    return isAttribute(id) ? [id] : [];
  } catch {
    return [];
  }
}

/** Reads the columns of the address; the name is always there, attributes come last, and unknown words are passed over. */
export function columnsOf(text: string | undefined): ColumnId[] {
  if (text === undefined) return [...initialColumns];
  const asked = new Set(text.split(","));
  const attributes = [...asked].flatMap(attributeOf).slice(0, attributesMost);
  return [...allColumns.filter((id) => id === "name" || asked.has(id)), ...attributes];
}

/** Writes columns for the address; the initial ones need no word. */
export function columnsText(columns: readonly ColumnId[]): string | undefined {
  const known = allColumns.filter((id) => columns.includes(id));
  const text = [...known, ...columns.filter(isAttribute).map(encodeURIComponent)].join(",");
  return text === allColumns.filter((id) => (initialColumns as readonly string[]).includes(id)).join(",") ? undefined : text;
}

/** What is chosen in the list: devices one by one, or all that match its query. */
export interface Choice {
  readonly q: string | undefined;
  readonly ids: ReadonlySet<string>;
  readonly all: boolean;
}

/** Nothing is chosen of what a query finds. */
export const noChoice = (q: string | undefined): Choice => ({ q, ids: new Set(), all: false });

/** What is chosen of what a query finds now: a choice was made in the list of its own query, and means nothing in that of another. */
export const choiceIn = (q: string | undefined, choice: Choice): Choice => (choice.q === q ? choice : noChoice(q));

/** Chooses a device, or no longer; then not all that match are meant. */
export function toggled({ q, ids }: Choice, id: string): Choice {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { q, ids: next, all: false };
}

/** The condition that finds the targets of a value of a facet; undefined where queries cannot ask for it. */
export function conditionOf(by: string, value: string): string | undefined {
  // A star of the value is meant as such; within quotes each backslash counts twice.
  const quoted = /^[\w.-]+$/.test(value) ? value : `"${value.replaceAll("*", "\\*").replaceAll(/["\\]/g, "\\$&")}"`;
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
