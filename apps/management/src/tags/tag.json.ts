import type { DistributionSetTagView, TargetTagView } from "@harrier/contracts";
import { auditOf, optional, type View } from "@harrier/query";
import type { TagRow } from "./tags.sql.ts";

const page = "assigned?offset=0&limit=50";

/** Renders a tag (spec 001 §2.7); in lists it carries its own link only (contract management.md §1.5). */
export function targetTagJson({ base }: View, row: TagRow, single: boolean): TargetTagView {
  const self = `${base}/targettags/${row.id}`;
  return { ...members(row), _links: { self: { href: self }, ...(single ? { assignedTargets: { href: `${self}/${page}` } } : {}) } };
}

/** Renders a tag of sets like `targetTagJson`. */
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
