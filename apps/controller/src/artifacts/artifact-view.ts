import type { DeviceArtifactView } from "@harrier/contracts";
import type { Device } from "../device.ts";
import type { ArtifactLinks } from "./artifact-links.ts";

/** An artifact as management publishes it. */
export interface ArtifactFacts {
  filename: string;
  size: number;
  sha1: string;
  md5: string;
  sha256: string;
  /** In epoch ms. */
  createdAt: number;
}

/** Says where the artifacts of a module are linked, and for whom. */
export interface ArtifactPlace {
  device: Device;
  moduleId: number;
  links: ArtifactLinks;
}

/**
 * Builds an artifact as a device sees it (spec 000 §2.4), with all four links: some clients read only the `-http` ones, others take `download` first
 * (contract device.md §2.3). Path segments are percent-encoded, never `+` for a blank.
 */
export function artifactView({ device, moduleId, links }: ArtifactPlace, artifact: ArtifactFacts): DeviceArtifactView {
  const { filename, size, sha1, md5, sha256 } = artifact;
  const written = links.write({
    download_url: links.host ?? device.base,
    tenant: device.tenantPath,
    controllerId: device.controllerPath,
    moduleId: String(moduleId),
    filename: encodeURIComponent(filename),
    sha1,
  });
  return { filename, hashes: { sha1, md5, sha256 }, size, _links: written };
}
