import type { SoftwareModuleView } from "@harrier/contracts";
import { type AuditRow, auditOf, optional, type View } from "@harrier/query";
import type { ModuleRow } from "../rows/module.ts";

type VersionedRow = Pick<ModuleRow, "id" | "name" | "description" | "version" | "typeKey" | "typeName" | keyof AuditRow>;

/** Renders what modules and sets have in common. */
export const versionedJson = (row: VersionedRow) => ({
  ...auditOf(row),
  id: row.id,
  name: row.name,
  ...optional("description", row.description),
  version: row.version,
  type: row.typeKey,
  typeName: row.typeName,
});

/** Renders a module (spec 001 §2.3); a single answer carries more links than an item of a list (contract management.md §1.5). */
export function moduleJson({ base }: View, row: ModuleRow, single: boolean): SoftwareModuleView {
  const self = `${base}/softwaremodules/${row.id}`;
  const more = {
    artifacts: { href: `${self}/artifacts` },
    type: { href: `${base}/softwaremoduletypes/${row.typeId}` },
    metadata: { href: `${self}/metadata?offset=0&limit=50` },
  };
  return {
    ...versionedJson(row),
    ...optional("vendor", row.vendor),
    encrypted: row.encrypted,
    locked: row.locked,
    deleted: row.deleted,
    complete: row.complete,
    _links: { self: { href: self }, ...(single ? more : {}) },
  };
}
