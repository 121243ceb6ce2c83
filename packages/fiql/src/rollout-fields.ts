import { byId, namedColumns, namedFields } from "./catalogue-fields.ts";
import { rolloutStatusCodes } from "./codes.ts";
import type { FieldMap, SortMap } from "./fields.ts";
import { setRelation } from "./relations.ts";

/** The fields of rollouts: a relation `t` with the named columns, status, set_id (contract rollouts.md §2). */
export const rolloutFields: FieldMap = {
  ...namedFields,
  status: { kind: "enum", column: "t.status", codes: rolloutStatusCodes },
  distributionset: setRelation("t.set_id"),
};

export const rolloutSort: SortMap = { ...byId, fields: { ...namedColumns, status: "t.status" } };

/** The fields of a rollout's groups. A list may be sorted by the same names as rollouts (contract rollouts.md §2). */
export const groupFields: FieldMap = namedFields;

export const groupSort: SortMap = rolloutSort;
