/** A code of an enum column, as the view publishes it. */
export type EnumCode = number | string | boolean;

/** Kinds of single-valued fields; `column` is an SQL expression over the aliases in scope, fixed in source, never from input. */
export type ScalarField =
  /** `head`: the first 200 characters of the folded text, where these are indexed because the whole would not fit. */
  | { kind: "text"; column: string; head?: string }
  | { kind: "number"; column: string }
  /** A timestamptz column; queries speak epoch milliseconds. `hour`: the hours since 1970 of it, where these are indexed instead. */
  | { kind: "timestamp"; column: string; hour?: string }
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
  /** Where the related rows are few beside the base rows: they can be looked up first (see `lookups`). */
  byId?: ById;
}

/** A relation by the ids of its rows. */
export interface ById {
  /** The related rows alone, with the alias that the sub fields use. */
  from: string;
  alias: string;
  /** True for a base row that is related to one of the ids; `ids` is an SQL array. */
  related: (ids: string) => string;
}

/** Free keys, one row per entry; the key is everything after the first dot. */
export interface MapField {
  kind: "map";
  from: string;
  on: string;
  key: string;
  value: string;
  /** As of a text. */
  head?: string;
}

export type Field = ScalarField | RelationField | MapField;

/** What one entity can be asked for: lower-case selector to field. */
export type FieldMap = Readonly<Record<string, Field>>;

/** What one list can be sorted by: lower-case name to SQL expression; `initial` is unique by itself, `last` makes paging stable. */
export interface SortMap {
  fields: Readonly<Record<string, string>>;
  initial: string;
  last: string;
}
