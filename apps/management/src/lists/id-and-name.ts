import type { FieldMap, SortMap } from "@harrier/fiql";

/** This says how users and roles are searched and sorted (contract management.md §10). */
export const idAndName: { fields: FieldMap; sort: SortMap } = {
  fields: { id: { kind: "number", column: "t.id" }, name: { kind: "text", column: "t.name" } },
  sort: { fields: { id: "t.id", name: "t.name" }, initial: "t.id asc", last: "t.id asc" },
};
