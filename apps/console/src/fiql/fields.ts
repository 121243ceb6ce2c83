/** What a field takes, which decides its operators. */
export type FieldKind = "text" | "word" | "number" | "time" | "boolean" | "key";

/** A list whose names are the values of a field. */
export type ValueList = "tags" | "types" | "sets";

export interface QueryField {
  readonly name: string;
  readonly kind: FieldKind;
  /** All words that it can have. */
  readonly words?: readonly string[];
  /** The field by which the server suggests values, for targets alone. */
  readonly suggest?: string;
  readonly list?: ValueList;
}

const set = (name: string): QueryField[] => [
  { name: `${name}.name`, kind: "text", list: "sets" },
  { name: `${name}.version`, kind: "text" },
  { name: `${name}.id`, kind: "number" },
];

/** The fields of device queries that people write (contract management.md §6.4). */
export const targetFields: readonly QueryField[] = [
  { name: "controllerid", kind: "text", suggest: "controllerid" },
  { name: "name", kind: "text", suggest: "name" },
  { name: "updatestatus", kind: "word", words: ["unknown", "registered", "pending", "in_sync", "error"] },
  { name: "attribute.", kind: "key", suggest: "attribute" },
  { name: "metadata.", kind: "key", suggest: "metadata" },
  { name: "tag", kind: "text", list: "tags" },
  { name: "group", kind: "text", suggest: "group" },
  { name: "targettype.key", kind: "text", list: "types" },
  ...set("assignedds"),
  ...set("installedds"),
  { name: "lastcontrollerrequestat", kind: "time" },
  { name: "createdat", kind: "time" },
  { name: "ipaddress", kind: "text" },
  { name: "description", kind: "text" },
];

/** The fields of action queries. */
export const actionFields: readonly QueryField[] = [
  { name: "active", kind: "boolean", words: ["true", "false"] },
  {
    name: "detailstatus",
    kind: "word",
    words: [
      "running",
      "error",
      "finished",
      "warning",
      "canceled",
      "canceling",
      "retrieved",
      "download",
      "downloaded",
      "scheduled",
      "wait_for_confirmation",
    ],
  },
  { name: "target.controllerid", kind: "text", suggest: "controllerid" },
  { name: "target.name", kind: "text", suggest: "name" },
  { name: "target.lastcontrollerrequestat", kind: "time" },
  { name: "target.targettype.key", kind: "text", list: "types" },
  { name: "distributionset.name", kind: "text", list: "sets" },
  { name: "distributionset.version", kind: "text" },
  { name: "rollout.name", kind: "text" },
  { name: "rollout.id", kind: "number" },
  { name: "createdat", kind: "time" },
  { name: "lastmodifiedat", kind: "time" },
];

const operators: Readonly<Record<FieldKind, readonly string[]>> = {
  text: ["==", "!=", "=in=", "=out="],
  word: ["==", "!=", "=in="],
  number: ["==", "!=", "=lt=", "=gt="],
  time: ["=lt=", "=gt=", "=le=", "=ge="],
  boolean: ["=="],
  key: ["==", "!=", "=in="],
};

/** The operators that a field of this kind takes. */
export const operatorsOf = (kind: FieldKind): readonly string[] => operators[kind];
