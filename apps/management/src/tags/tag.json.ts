import type { DistributionSetTagView, TargetTagView } from "@harrier/contracts";
import { auditOf, optional, type View } from "../lists/json.ts";
import type { TagRow } from "./tags.sql.ts";

const page = "assigned?offset=0&limit=50";

/** spec 001 §2.7; in lists a tag carries its own link only (contract management.md §1.5). */
export function targetTagJson({ base }: View, row: TagRow, single: boolean): TargetTagView {
  const self = `${base}/targettags/${row.id}`;
  return { ...members(row), _links: { self: { href: self }, ...(single ? { assignedTargets: { href: `${self}/${page}` } } : {}) } };
}

/** As `targetTagJson`. */
export function distributionSetTagJson({ base }: View, row: TagRow, single: boolean): DistributionSetTagView {
  const self = `${base}/distributionsettags/${row.id}`;
  return {
    ...members(row),
    _links: { self: { href: self }, ...(single ? { assignedDistributionSets: { href: `${self}/${page}` } } : {}) },
  };
}

function members(row: TagRow) {
  return { ...auditOf(row), id: row.id, name: row.name, ...optional("description", row.description), ...optional("colour", row.colour) };
}
