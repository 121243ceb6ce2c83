import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type ArtifactRow, findAdminDownload, findDeviceDownload, findLinkedDownload } from "./download.sql.ts";

export interface FindDeps {
  readonly db: Database;
  /** The store makes links, so that the tenant's setting counts. */
  readonly linked: boolean;
}

export interface DeviceDownload {
  readonly tenantId: number;
  readonly controllerId: string;
  readonly moduleId: number;
  readonly filename: string;
}

export interface GrantedArtifact extends ArtifactRow {
  readonly actionId: number;
  /** The tenant lets its devices fetch files from the bucket. */
  readonly presigned: boolean;
}

/** Finds an artifact that the device may have now (contract device.md §6.1). The checks are in hawkBit's order. */
export async function findForDevice(deps: FindDeps, wanted: DeviceDownload): Promise<GrantedArtifact> {
  const { tenantId, controllerId, moduleId, filename } = wanted;
  const row = await runOne(deps.db.pool, deps.linked ? findLinkedDownload : findDeviceDownload, [
    tenantId,
    controllerId,
    moduleId,
    filename,
  ]);
  if (!row?.moduleKnown) throw entityNotFound("SoftwareModule", moduleId);
  if (row.sha256 === null) throw new HarrierError("stateNotFound");
  if (row.actionId === null) {
    throw new HarrierError(
      "entityNotFound",
      `No assignment found for SoftwareModule with id {${moduleId}} to Target with id {${controllerId}}.`,
    );
  }
  return withBytes({ ...(row as ArtifactRow), actionId: row.actionId, presigned: row.presigned === true });
}

export interface AdminDownload {
  readonly tenantId: number;
  readonly moduleId: number;
  readonly artifactId: number;
}

/** Finds an artifact for a user, who may download any (contract management.md §4.3). */
export async function findForAdmin(deps: Pick<FindDeps, "db">, wanted: AdminDownload): Promise<ArtifactRow> {
  const row = await runOne(deps.db.pool, findAdminDownload, [wanted.tenantId, wanted.moduleId, wanted.artifactId]);
  if (!row?.moduleKnown) throw entityNotFound("SoftwareModule", wanted.moduleId);
  if (row.sha256 === null) throw entityNotFound("Artifact", wanted.artifactId);
  if (row.moduleDeleted === true) throw new HarrierError("artifactBinaryDeleted");
  return withBytes(row as ArtifactRow);
}

function withBytes<Row extends ArtifactRow>(row: Row): Row {
  if (!row.stored) throw new HarrierError("artifactBinaryDeleted");
  return row;
}
