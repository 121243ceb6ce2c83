import type { DistributionSetTypeView } from "@harrier/contracts";
import type { View } from "@harrier/query";
import { typeMembersOf } from "../lists/type.json.ts";
import type { TypeRow } from "../rows/type.ts";

/** Renders a set type (spec 001 §2.7); a single answer also links its module types (relation and path differ: contract management.md §1.5). */
export function setTypeJson({ base }: View, row: TypeRow, single: boolean): DistributionSetTypeView {
  const self = `${base}/distributionsettypes/${row.id}`;
  const contents = { mandatorymodules: { href: `${self}/mandatorymoduletypes` }, optionalmodules: { href: `${self}/optionalmoduletypes` } };
  return { ...typeMembersOf(row), _links: { self: { href: self }, ...(single ? contents : {}) } };
}
