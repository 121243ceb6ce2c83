import { run, runOne } from "@harrier/db";
import { codes, HarrierError, toHarrierError } from "@harrier/errors";
import type { Client, OutCall } from "@harrier/rpc";
import { addReference } from "../blobs/blobs.sql.ts";
import { type BlobDeps, changeHolders, sweepBlob } from "../blobs/blobs.ts";
import type { Lease } from "./lease.ts";
import { dropUpload, type UploadContent } from "./store.ts";
import { endAttached, findAttached, postponeUpload } from "./upload.sql.ts";

export type Catalogue = Pick<Client<"harrier.management.v1.CatalogueService">, "checkUpload" | "attachArtifact">;

export interface AttachDeps extends BlobDeps {
  readonly catalogue: Catalogue;
  readonly fault: (name: "artifact-store.upload.after-attach") => void | Promise<void>;
  readonly log: { warn(fields: object, message: string): void };
}

export interface PendingUpload extends Lease, UploadContent {
  readonly moduleId: number;
  /** The number of earlier attempts, whose outcome was unknown. */
  readonly attempts: number;
}

export interface Attached {
  readonly id: number;
  readonly createdBy: string;
  readonly createdAt: number;
}

export type AttachOutcome =
  | { readonly kind: "attached"; readonly artifact: Attached }
  | { readonly kind: "refused"; readonly error: HarrierError }
  /** The artifact row may or may not exist; only a repetition of the same command tells. */
  | { readonly kind: "unknown"; readonly error: HarrierError };

/** The call is made in the name of the uploader while the request lasts, and later in the service's own; `uploader` always names the user. */
export type AttachCall = Omit<OutCall, "commandId"> & { readonly uploader: string };

/** Asks management once for the artifact row, and settles the upload if the outcome is known. The upload's id is the command id. */
export async function attachUpload(deps: AttachDeps, upload: PendingUpload, { uploader, ...call }: AttachCall): Promise<AttachOutcome> {
  const { moduleId, filename, size, sha1, md5, sha256 } = upload;
  let artifact: Attached;
  try {
    artifact = await deps.catalogue.attachArtifact(
      { moduleId, filename, size, sha1, md5, sha256, uploader },
      { ...call, commandId: upload.id },
    );
  } catch (thrown) {
    return await settleRefusal(deps, upload, toHarrierError(thrown));
  }
  await deps.fault("artifact-store.upload.after-attach");
  // the artifact exists and its blob is held; if the rest fails, the janitor completes it
  await settleAttached(deps, upload, artifact.id).catch((error: unknown) => {
    deps.log.warn({ err: error, upload: upload.id, artifact: artifact.id }, "the reference of a new artifact is left to the janitor");
  });
  return { kind: "attached", artifact };
}

function isUnknown(error: HarrierError): boolean {
  return codes[error.code].retryable || error.code === "internal";
}

async function settleRefusal(deps: AttachDeps, upload: PendingUpload, error: HarrierError): Promise<AttachOutcome> {
  if (isUnknown(error)) return { kind: "unknown", error };
  // a repeated command may meet the artifact of its own first attempt, if management no longer keeps the answer
  const own = error.code === "entityAlreadyExists" && upload.attempts > 0 ? await findOwnArtifact(deps, upload) : undefined;
  if (own === undefined) await dropUpload(deps, upload, upload);
  else await settleAttached(deps, upload, own);
  return { kind: "refused", error };
}

async function findOwnArtifact(deps: BlobDeps, upload: PendingUpload): Promise<number | undefined> {
  return (await runOne(deps.db.pool, findAttached, [upload.tenantId, upload.moduleId, upload.filename, upload.sha256]))?.id;
}

/** Transfers the blob from the upload to the artifact, or releases it if the artifact has already been deleted again. */
async function settleAttached(deps: BlobDeps, upload: PendingUpload, artifactId: number): Promise<void> {
  const { tenantId, id, leaseId, sha256 } = upload;
  const { unheld } = await changeHolders(deps, upload, async (tx) => {
    await run(tx, addReference, [tenantId, artifactId, sha256]);
    await run(tx, endAttached, [tenantId, id, leaseId, artifactId]);
  });
  if (unheld) await sweepBlob(deps, tenantId, sha256);
}

/**
 * Settles an upload by management's published rows. It is for uploads that have had no clear answer for so long that none will come.
 * Without an artifact row the upload is dropped.
 */
export async function settleByRows(deps: BlobDeps, upload: PendingUpload): Promise<void> {
  const own = await findOwnArtifact(deps, upload);
  if (own === undefined) await dropUpload(deps, upload, upload);
  else await settleAttached(deps, upload, own);
}

/** Makes the next attempt due after the pause; this process or any janitor makes it. */
export async function postpone(deps: Pick<BlobDeps, "db">, upload: PendingUpload, pauseMs: number, error: HarrierError): Promise<void> {
  await run(deps.db.pool, postponeUpload, [upload.tenantId, upload.id, upload.leaseId, pauseMs, error.code]);
}

/** Creates the error for a client whose file is stored, but whose artifact is not confirmed yet. */
export function outcomeUnknown(cause: HarrierError): HarrierError {
  return new HarrierError("unavailable", "The file was stored, but its artifact could not be confirmed in time. It may appear shortly.", {
    cause,
    headers: { "retry-after": "5" },
  });
}
