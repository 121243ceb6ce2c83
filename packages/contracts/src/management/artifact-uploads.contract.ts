import { z } from "zod";
import { queryBytes } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { byteCount, checksum, fileName, lookedUpText, pathId } from "../values.ts";
import { artifactView } from "./artifacts.contract.ts";

/** An upload in parts: how far it has come, and where the next part begins (contract console.md M15). */
export const artifactUploadView = z
  .object({
    id: z.uuid(),
    /** It is `completing` from the completion until the artifact exists, and `completed` afterwards. */
    status: z.enum(["open", "completing", "completed"]),
    filename: z.string(),
    size: z.int(),
    offset: z.int(),
    partSize: z.int(),
    softwareModuleId: z.int(),
    /** Who opened it; of an upload that a release before began, nobody is known. */
    openedBy: z.string().optional(),
    createdAt: z.int(),
    expiresAt: z.int(),
    artifactId: z.int().optional(),
  })
  .meta({ id: "ArtifactUploadInParts" });
export type ArtifactUploadView = z.output<typeof artifactUploadView>;

/** The hashes that the whole file must have; each may be absent. */
const hashes = { md5sum: checksum(32), sha1sum: checksum(40), sha256sum: checksum(64) };

/** The file that is going to come: its size in bytes, and the hashes that it must have in the end. */
export const newArtifactUpload = z.object({ filename: fileName(256), size: byteCount, ...hashes }).meta({ id: "NewArtifactUpload" });
export type NewArtifactUpload = z.output<typeof newArtifactUpload>;

const base = "/softwaremodules/:softwareModuleId/artifacts/uploads";
const module = z.object({ softwareModuleId: pathId });
/** No upload has this id: any other text is looked up as it, and not found. */
const nobody = "00000000-0000-0000-0000-000000000000";
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const uploadId = shownAs(
  lookedUpText.transform((text) => (uuid.test(text) ? text : nobody)),
  { type: "string", format: "uuid" },
);
const one = module.extend({ uploadId });
const common = {
  service: "artifact-store",
  interface: "management",
  permission: ["CREATE_REPOSITORY"],
  source: "contract console.md §3 M15",
} as const;

/** Uploads of artifacts that go on after an interruption (contract console.md M15). */
export const artifactUploads = routesOf("artifactUploads", common, {
  list: {
    method: "GET",
    path: "/artifacts/uploads",
    success: ok,
    // a tenant has no more than fifty
    response: z.array(artifactUploadView),
    errors: [],
    summary: "List the unfinished uploads of all modules, the oldest first",
  },
  open: {
    method: "POST",
    path: base,
    params: module,
    body: newArtifactUpload,
    success: created,
    response: artifactUploadView,
    errors: [
      "entityNotFound",
      "quotaTooManyEntries",
      "entityAlreadyExists",
      "locked",
      "fileSizeExceeded",
      "storageExceeded",
      "storageFull",
      "constraintViolation",
    ],
    summary: "Open an upload in parts",
  },
  get: {
    method: "GET",
    path: `${base}/:uploadId`,
    params: one,
    success: ok,
    response: artifactUploadView,
    errors: ["entityNotFound"],
    summary: "Get how far an upload in parts has come",
  },
  sendPart: {
    method: "PUT",
    path: `${base}/:uploadId`,
    params: one,
    query: z.object({ offset: queryBytes(0, (value) => Math.max(0, value)) }),
    body: shownAs(z.unknown(), { type: "string", format: "binary" }),
    bodyKind: "binary",
    success: ok,
    response: artifactUploadView,
    errors: [
      "entityNotFound",
      "uploadOffset",
      "tooManyRequests",
      "constraintViolation",
      "multipartInvalid",
      "artifactUploadFailed",
      "storageFull",
    ],
    summary: "Send the next part of an upload",
  },
  complete: {
    method: "POST",
    path: `${base}/:uploadId/complete`,
    params: one,
    // whoever hashes the file while sending it knows its hashes only now
    query: z.object(hashes),
    success: created,
    response: artifactView,
    errors: [
      "constraintViolation",
      "entityNotFound",
      "uploadOffset",
      "tooManyRequests",
      "quotaTooManyEntries",
      "entityAlreadyExists",
      "locked",
      "fileSizeExceeded",
      "storageExceeded",
      "checksumMd5",
      "checksumSha1",
      "checksumSha256",
      "artifactUploadFailed",
      "storageFull",
    ],
    summary: "Make an artifact of an upload in parts",
  },
  cancel: {
    method: "DELETE",
    path: `${base}/:uploadId`,
    params: one,
    success: bodiless,
    errors: ["entityNotFound", "uploadOffset", "tooManyRequests"],
    summary: "Give up an upload in parts",
  },
});
