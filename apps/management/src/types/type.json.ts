import type { DistributionSetTypeView, SoftwareModuleTypeView } from "@harrier/contracts";
import { auditOf, optional, type View } from "../lists/json.ts";
import type { ModuleTypeRow, SetTypeRow } from "./types.sql.ts";

function shared(row: SetTypeRow) {
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

/** spec 001 §2.7; lists and single answers are alike (contract management.md §1.5). */
export function moduleTypeJson({ base }: View, row: ModuleTypeRow): SoftwareModuleTypeView {
  return {
    ...shared(row),
    maxAssignments: row.maxAssignments,
    _links: { self: { href: `${base}/softwaremoduletypes/${row.id}` } },
  };
}

/** spec 001 §2.7; a single answer also links its module types (relation and path differ: contract management.md §1.5). */
export function setTypeJson({ base }: View, row: SetTypeRow, single: boolean): DistributionSetTypeView {
  const self = `${base}/distributionsettypes/${row.id}`;
  const contents = { mandatorymodules: { href: `${self}/mandatorymoduletypes` }, optionalmodules: { href: `${self}/optionalmoduletypes` } };
  return { ...shared(row), _links: { self: { href: self }, ...(single ? contents : {}) } };
}
