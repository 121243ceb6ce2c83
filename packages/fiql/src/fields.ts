/** A code of an enum column, as the view publishes it. */
export type EnumCode = number | string | boolean;

/** Kinds of single-valued fields; `column` is an SQL expression over the aliases in scope, fixed in source, never from input. */
export type ScalarField =
  | { kind: "text"; column: string }
  | { kind: "number"; column: string }
  /** A timestamptz column; queries speak epoch milliseconds. */
  | { kind: "timestamp"; column: string }
  /** `codes`: lower-case literal to the column's value. */
  | { kind: "enum"; column: string; codes: Readonly<Record<string, EnumCode>> }
  | { kind: "boolean"; column: string };

/** A field that lives in another relation: `from` names it with its alias, `on` joins it to the base alias (tenant included). */
export interface RelationField {
  kind: "toOne" | "toMany";
  from: string;
  on: string;
  fields: Readonly<Record<string, ScalarField>>;
  /** The sub field meant by the bare name; without it the bare name is an invalid field. */
  bare?: string;
}

/** Free keys, one row per entry; the key is everything after the first dot. */
export interface MapField {
  kind: "map";
  from: string;
  on: string;
  key: string;
  value: string;
}

export type Field = ScalarField | RelationField | MapField;

/** What one entity can be asked for: lower-case selector to field. */
export type FieldMap = Readonly<Record<string, Field>>;

/** What one list can be sorted by: lower-case name to SQL expression; `last` makes paging stable. */
export interface SortMap {
  fields: Readonly<Record<string, string>>;
  initial: string;
  last: string;
}
