import type { SoftwareModuleTypeView } from "@harrier/contracts";
import type { View } from "@harrier/query";
import { typeMembersOf } from "../lists/type.json.ts";
import type { ModuleTypeRow } from "../rows/type.ts";

/** Renders a module type (spec 001 §2.7). */
export function moduleTypeJson({ base }: View, row: ModuleTypeRow): SoftwareModuleTypeView {
  return {
    ...typeMembersOf(row),
    maxAssignments: row.maxAssignments,
    minArtifacts: row.minArtifacts,
    _links: { self: { href: `${base}/softwaremoduletypes/${row.id}` } },
  };
}
