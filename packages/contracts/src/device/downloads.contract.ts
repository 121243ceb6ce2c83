import { z } from "zod";
import { deviceOk, route } from "../route.ts";
import { lookedUpText, pathId } from "../values.ts";

const file = z.object({ tenant: lookedUpText, controllerId: lookedUpText, softwareModuleId: pathId, fileName: lookedUpText });

/** Both addresses are always served: that of hawkBit's clients and that of the specification (contract device.md §2.3). */
const classic = "/:tenant/controller/v1/:controllerId/softwaremodules/:softwareModuleId/artifacts/:fileName";
const specified = "/api/v1/:tenant/download/controller/:controllerId/softwaremodules/:softwareModuleId/filename/:fileName";

const common = {
  service: "artifact-store",
  interface: "device",
  method: "GET",
  params: file,
  permission: [],
  credential: "download",
} as const;

const bytes = {
  ...common,
  success: deviceOk,
  otherSuccess: { 206: "The requested ranges", 302: "A link into the bucket, which is good for a short time" },
  responseType: "application/octet-stream",
  errors: [
    "entityNotFound",
    "stateNotFound",
    "artifactBinaryDeleted",
    "artifactLoadFailed",
    "preconditionFailed",
    "rangeNotSatisfiable",
    "dataVolumeExceeded",
  ],
  summary: "Download an artifact, whole or in ranges",
} as const;

const checksum = {
  ...common,
  success: deviceOk,
  responseType: "text/plain",
  errors: ["entityNotFound", "stateNotFound", "dataVolumeExceeded"],
  summary: "Download the MD5SUM file of an artifact",
} as const;

/** The downloads (spec 000 §4.2). The checksum routes come first, because their suffix would match as part of a file name too. */
export const downloads = {
  artifactMd5: route({ ...checksum, id: "device.artifactMd5", path: `${classic}.MD5SUM`, source: "contract device.md §1, E16" }),
  artifact: route({ ...bytes, id: "device.artifact", path: classic, source: "contract device.md §1, E15" }),
  artifactDownloadMd5: route({ ...checksum, id: "device.artifactDownloadMd5", path: `${specified}.MD5SUM`, source: "spec 000 §2.4" }),
  artifactDownload: route({ ...bytes, id: "device.artifactDownload", path: specified, source: "spec 000 §2.4" }),
};
