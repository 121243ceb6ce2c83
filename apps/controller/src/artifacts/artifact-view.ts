import type { DeviceArtifactView } from "@harrier/contracts";
import type { Device } from "../device.ts";

/** An artifact as management publishes it. */
export interface ArtifactFacts {
  filename: string;
  size: number;
  sha1: string;
  md5: string;
  sha256: string;
}

/**
 * An artifact as a device sees it (spec 000 §2.4). All four links, in the specification's shape and through the address that the device
 * called: some clients read only the `-http` ones (contract device.md §2.3). The path is percent-encoded, never `+` for a blank.
 */
export function artifactView(device: Device, moduleId: number, artifact: ArtifactFacts): DeviceArtifactView {
  const { filename, size, sha1, md5, sha256 } = artifact;
  const folder = `${device.base}/api/v1/${device.tenantPath}/download/controller/${device.controllerPath}/softwaremodules/${moduleId}/filename/`;
  const download = { href: folder + encodeURIComponent(filename) };
  const md5sum = { href: `${download.href}.MD5SUM` };
  return {
    filename,
    hashes: { sha1, md5, sha256 },
    size,
    _links: { download, md5sum, "download-http": download, "md5sum-http": md5sum },
  };
}
