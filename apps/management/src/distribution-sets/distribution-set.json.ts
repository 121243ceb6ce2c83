import type { DistributionSetView } from "@harrier/contracts";
import type { View } from "@harrier/query";
import type { SetRow } from "../rows/set.ts";
import { moduleJson, versionedJson } from "../software-modules/software-module.json.ts";

/**
 * Renders a set (spec 001 §2.2); a single answer carries more links than an item of a list, and both hold the modules
 * (contract management.md §1.5).
 */
export function setJson(view: View, row: SetRow, single: boolean): DistributionSetView {
  const self = `${view.base}/distributionsets/${row.id}`;
  const more = {
    modules: { href: `${self}/assignedSM?offset=0&limit=50` },
    type: { href: `${view.base}/distributionsettypes/${row.typeId}` },
    metadata: { href: `${self}/metadata?offset=0&limit=50` },
  };
  return {
    ...versionedJson(row),
    complete: row.complete,
    locked: row.locked,
    deleted: row.deleted,
    valid: row.valid,
    requiredMigrationStep: row.migrationStep,
    modules: row.modules.map((module) => moduleJson(view, module, false)),
    _links: { self: { href: self }, ...(single ? more : {}) },
  };
}
