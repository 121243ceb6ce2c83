/** A code of an enum column, as the view publishes it. */
export type EnumCode = number | string | boolean;

/** The kinds of single-valued fields; `column` is an SQL expression over the aliases in scope, fixed in source, never from input. */
export type ScalarField =
  /** `head` is the first 200 characters of the folded text, which are indexed if the whole would not fit. */
  | { kind: "text"; column: string; head?: string }
  | { kind: "number"; column: string }
  /** A timestamptz column; queries use epoch milliseconds. `hour` is its hours since 1970, if these are indexed instead. */
  | { kind: "timestamp"; column: string; hour?: string }
  /** `codes` maps a lower-case literal to the column's value. */
  | { kind: "enum"; column: string; codes: Readonly<Record<string, EnumCode>> }
  | { kind: "boolean"; column: string };

/** A field in another relation: `from` names it with its alias, `on` joins it to the base alias (tenant included). */
export interface RelationField {
  kind: "toOne" | "toMany";
  from: string;
  on: string;
  fields: Readonly<Record<string, ScalarField>>;
  /** The sub field that the bare name stands for; without it the bare name is an invalid field. */
  bare?: string;
  /** It is set if there are few related rows for many base rows, so that they can be looked up first (see `lookups`). */
  byId?: ById;
}

/** A relation by the ids of its rows. */
export interface ById {
  /** The related rows alone, with the alias that the sub fields use. */
  from: string;
  alias: string;
  /** Makes a predicate that is true for a base row related to one of the ids; `ids` is an SQL array. */
  related: (ids: string) => string;
}

/** A field with free keys, one row per entry; the key is everything after the first dot. */
export interface MapField {
  kind: "map";
  from: string;
  on: string;
  key: string;
  value: string;
  /** It has the same meaning as in a text field. */
  head?: string;
}

export type Field = ScalarField | RelationField | MapField;

/** The fields of one entity: lower-case selector to field. */
export type FieldMap = Readonly<Record<string, Field>>;

/** The sort criteria of one list: lower-case name to SQL expression; `initial` is unique by itself, `last` makes paging stable. */
export interface SortMap {
  fields: Readonly<Record<string, string>>;
  initial: string;
  last: string;
  /** The expressions that may be null; lists that are walked by a cursor need to know. */
  nullable?: readonly string[];
}
