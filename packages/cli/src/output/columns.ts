/** A column of a list: the path of a member, or a function of the object. */
export interface Column {
  readonly head: string;
  readonly at: string | ((row: never) => unknown);
  /** It is shown by `-o wide` and CSV only. */
  readonly wide?: true;
  readonly time?: true;
}

/** Reads a member by its path (`distributionSet.name`). */
export function member(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined | null)?.[name], value);
}

/** The text of a cell: times in ISO 8601 and UTC, nothing for what is absent. */
export function cell(row: unknown, { at, time }: Column): string {
  const value = typeof at === "string" ? member(row, at) : at(row as never);
  if (value === undefined || value === null) return "";
  if (time === true && typeof value === "number") return new Date(value).toISOString().replace(".000Z", "Z");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Takes from the columns those that `--columns` names, in its order; any other name is a member's path. */
export function chosen(columns: readonly Column[], names: string | undefined): readonly Column[] {
  if (names === undefined) return columns;
  return names.split(",").map((name) => {
    const { wide: _wide, ...known } = columns.find(({ head, at }) => head.toLowerCase() === name.toLowerCase() || at === name) ?? {
      head: name.toUpperCase(),
      at: name,
    };
    return known;
  });
}

export const auditColumns: readonly Column[] = [
  { head: "CREATED BY", at: "createdBy", wide: true },
  { head: "CREATED", at: "createdAt", wide: true, time: true },
  { head: "CHANGED", at: "lastModifiedAt", wide: true, time: true },
];

const headOf = (path: string): string =>
  path
    .replaceAll(/[.](\w)/g, " $1")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toUpperCase();

/** Columns of members by their names; what ends with `At` is a time. */
export function columnsOf(...paths: readonly string[]): readonly Column[] {
  return paths.map((at) => ({ head: headOf(at), at, ...(/(At|Since|^time)$/.test(at) ? { time: true as const } : {}) }));
}
