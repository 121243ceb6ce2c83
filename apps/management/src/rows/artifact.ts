import { type AuditRow, auditColumns, type Columns } from "@harrier/query";

/** This is the row of an artifact (spec 001 §2.3). */
export interface ArtifactRow extends AuditRow {
  id: number;
  moduleId: number;
  filename: string;
  size: number;
  sha1: string;
  md5: string;
  sha256: string;
}

/** These are columns over an `artifacts` row `a`. */
export const artifactColumns: Columns = {
  id: "a.id",
  moduleId: "a.module_id",
  filename: "a.filename",
  size: "a.size",
  sha1: "a.sha1",
  md5: "a.md5",
  sha256: "a.sha256",
  ...auditColumns("a"),
};
