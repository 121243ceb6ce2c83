import type { EvidenceRule } from "@harrier/contracts";
import { type AuditRow, auditColumns, type Columns } from "@harrier/query";

/** This is a type as the interface shows it, whatever it is a type of (spec 001 §2.7). */
export interface TypeRow extends AuditRow {
  id: number;
  key: string;
  name: string;
  description: string | null;
  colour: string | null;
  deleted: boolean;
  revision: number;
}

/** This is a type of modules; it also says how many of them a set takes, and how many artifacts each needs to be complete. */
export interface ModuleTypeRow extends TypeRow {
  maxAssignments: number;
  minArtifacts: number;
}

/** This is a type of targets; it also says what its targets show when they run a set. */
export interface TargetTypeRow extends TypeRow {
  evidence: EvidenceRule[];
}

const named: Columns = {
  id: "t.id",
  key: "t.key",
  name: "t.name",
  description: "t.description",
  colour: "t.colour",
  revision: "t.revision",
  ...auditColumns("t"),
};

/** These are columns over a `distribution_set_types` row `t`. */
export const setTypeColumns: Columns = { ...named, deleted: "t.deleted" };
/** These are columns over a `software_module_types` row `t`. */
export const moduleTypeColumns: Columns = { ...setTypeColumns, maxAssignments: "t.max_assignments", minArtifacts: "t.min_artifacts" };
/** These are columns over a `target_types` row `t`, which is never deleted softly. */
export const targetTypeColumns: Columns = { ...named, deleted: "false", evidence: "t.evidence" };
