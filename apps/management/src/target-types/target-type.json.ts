import type { TargetTypeView } from "@harrier/contracts";
import type { View } from "@harrier/query";
import { typeMembersOf } from "../lists/type.json.ts";
import type { TypeRow } from "../rows/type.ts";

/** Renders a target type (spec 001 §2.7); a single answer also links the set types that its targets may get (contract management.md §1.5). */
export function targetTypeJson({ base }: View, row: TypeRow, single: boolean): TargetTypeView {
  const self = `${base}/targettypes/${row.id}`;
  const compatible = { compatibledistributionsettypes: { href: `${self}/compatibledistributionsettypes` } };
  return { ...typeMembersOf(row), _links: { self: { href: self }, ...(single ? compatible : {}) } };
}
