import { byId, namedColumns, namedFields } from "./catalogue-fields.ts";
import { rolloutStatusCodes } from "./codes.ts";
import type { FieldMap, SortMap } from "./fields.ts";
import { setRelation } from "./relations.ts";

/** Rollouts: a relation `t` with the named columns, status, set_id (contract rollouts.md §2). */
export const rolloutFields: FieldMap = {
  ...namedFields,
  status: { kind: "enum", column: "t.status", codes: rolloutStatusCodes },
  distributionset: setRelation("t.set_id"),
};

export const rolloutSort: SortMap = { ...byId, fields: { ...namedColumns, status: "t.status" } };

/** Groups of a rollout. The names a list may be sorted by are those of rollouts (contract rollouts.md §2). */
export const groupFields: FieldMap = namedFields;

export const groupSort: SortMap = rolloutSort;
