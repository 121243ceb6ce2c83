import type { DeviceArtifactView } from "@harrier/contracts";
import { type Database, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type Device, storableId } from "../device.ts";
import type { ArtifactLinkSettings } from "./artifact-links.ts";
import { artifactView } from "./artifact-view.ts";
import { readModuleArtifacts } from "./artifacts.sql.ts";

export interface ArtifactsDeps {
  db: Database;
  /** `createArtifactLinks` of artifact-links.ts. */
  links: ArtifactLinkSettings;
}

/** Lists the artifacts of a module that an open or the installed action of the device contains (spec 000 §4.1; contract device.md §6.1). */
export async function listArtifacts(deps: ArtifactsDeps, device: Device, moduleId: number): Promise<DeviceArtifactView[]> {
  const row = await runOne(deps.db.pool, readModuleArtifacts, [device.tenantId, device.controllerId, storableId(moduleId)]);
  if (!row?.targetExists) throw entityNotFound("Target", device.controllerId);
  if (!row.moduleExists) throw entityNotFound("SoftwareModule", moduleId);
  if (!row.granted) {
    const message = `No assignment found for SoftwareModule with id {${moduleId}} to Target with id {${device.controllerId}}.`;
    throw new HarrierError("entityNotFound", message);
  }
  const place = { device, moduleId, links: deps.links.of(device.tenantId) };
  return row.artifacts.map((artifact) => artifactView(place, artifact));
}
