import { z } from "zod";
import { audit, links } from "../link.ts";
import { queryFlag, queryText, representationQuery } from "../paging.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { shownAs } from "../shown-as.ts";
import { optionalFileName, pathId } from "../values.ts";

/** The hashes of an artifact in lower-case hex; all three are always present. */
export const hashesView = z.object({ sha1: z.string(), md5: z.string(), sha256: z.string() }).meta({ id: "Hashes" });

/** An artifact (spec 001 §2.3). */
export const artifactView = z
  .object({
    ...audit,
    id: z.int(),
    hashes: hashesView,
    providedFilename: z.string(),
    size: z.int(),
    _links: links("self", "download", "md5sum", "download-http", "md5sum-http"),
  })
  .meta({ id: "Artifact" });
export type ArtifactView = z.output<typeof artifactView>;

/** The name and checksums of an upload, given as form fields or as query parameters (contract management.md §4.3). */
export const uploadFields = z.object({
  filename: optionalFileName(256),
  md5sum: z.string().trim().toLowerCase().optional(),
  sha1sum: z.string().trim().toLowerCase().optional(),
  sha256sum: z.string().trim().toLowerCase().optional(),
});
export type UploadFields = z.output<typeof uploadFields>;

const uploadQuery = z.object({ filename: queryText, md5sum: queryText, sha1sum: queryText, sha256sum: queryText });
const uploadForm = uploadFields.extend({ file: shownAs(z.unknown(), { type: "string", format: "binary" }) }).meta({ id: "ArtifactUpload" });

const handlers = { useartifacturlhandler: queryFlag };
const module = z.object({ softwareModuleId: pathId });
const one = z.object({ softwareModuleId: pathId, artifactId: pathId });
const base = "/softwaremodules/:softwareModuleId/artifacts";

/** The operations on artifacts (spec 001 §4.4). */
export const artifacts = routesOf(
  "artifacts",
  { interface: "management" },
  {
    upload: {
      service: "artifact-store",
      method: "POST",
      path: base,
      params: module,
      query: uploadQuery,
      body: uploadForm,
      bodyKind: "multipart",
      success: created,
      response: artifactView,
      permission: ["CREATE_REPOSITORY"],
      errors: [
        "quotaTooManyEntries",
        "entityNotFound",
        "entityAlreadyExists",
        "fileSizeExceeded",
        "storageExceeded",
        "checksumMd5",
        "checksumSha1",
        "checksumSha256",
        "locked",
        "constraintViolation",
        "multipartInvalid",
        "artifactUploadFailed",
        "storageFull",
      ],
      summary: "Upload an artifact",
      source: "spec 001 §4.4",
    },
    list: {
      service: "management",
      method: "GET",
      path: base,
      params: module,
      query: representationQuery.extend(handlers),
      success: ok,
      response: z.array(artifactView),
      permission: ["READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "List the artifacts of a software module",
      source: "spec 001 §4.4",
    },
    get: {
      service: "management",
      method: "GET",
      path: `${base}/:artifactId`,
      params: one,
      query: z.object(handlers),
      success: ok,
      response: artifactView,
      permission: ["READ_REPOSITORY"],
      errors: ["entityNotFound"],
      summary: "Get an artifact",
      source: "spec 001 §4.4",
    },
    delete: {
      service: "management",
      method: "DELETE",
      path: `${base}/:artifactId`,
      params: one,
      success: bodiless,
      permission: ["DELETE_REPOSITORY"],
      errors: ["entityNotFound", "locked", "artifactDeleteFailed"],
      summary: "Delete an artifact",
      source: "spec 001 §4.4",
    },
    download: {
      service: "artifact-store",
      method: "GET",
      path: `${base}/:artifactId/download`,
      params: one,
      success: ok,
      otherSuccess: { 206: "The requested ranges" },
      responseType: "application/octet-stream",
      permission: ["DOWNLOAD_REPOSITORY_ARTIFACT"],
      errors: ["entityNotFound", "artifactBinaryDeleted", "artifactLoadFailed", "preconditionFailed", "rangeNotSatisfiable"],
      summary: "Download the bytes of an artifact",
      source: "contract management.md §4.3",
    },
  },
);
