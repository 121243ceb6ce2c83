import { auditOf, optional } from "@harrier/query";
import type { TypeRow } from "../rows/type.ts";

/** Renders the members that every type shows (spec 001 §2.7); lists and single answers are alike (contract management.md §1.5). */
export function typeMembersOf(row: TypeRow) {
  return {
    ...auditOf(row),
    id: row.id,
    key: row.key,
    name: row.name,
    ...optional("description", row.description),
    ...optional("colour", row.colour),
    deleted: row.deleted,
  };
}
