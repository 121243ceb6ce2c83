import { type Database, type IdBlocks, inTransaction, type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { AttachArtifactRequest, CheckUploadRequest } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { withRetries } from "../lists/conflicts.ts";
import {
  type AttachedArtifact,
  findAnswer,
  insertArtifact,
  lockModuleForUpload,
  readUploadState,
  type UploadState,
} from "./uploads.sql.ts";

/** Contract management.md §9. */
export const uploadQuotas = { artifactsPerModule: 50, artifactBytes: 1_073_741_824, storedBytes: 21_474_836_480 } as const;
export type UploadQuotas = { readonly [K in keyof typeof uploadQuotas]: number };

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  quotas: UploadQuotas;
  fault: (point: FaultPoint) => void | Promise<void>;
}

export interface Uploader {
  tenantId: number;
  subject: string;
  commandId: string;
}

/** The order of these refusals is part of the contract (management.md §4.3); the lock is asked early too, with the same answer. */
export function checkUploadState(state: UploadState, upload: { moduleId: number; filename: string }, quotas: UploadQuotas): void {
  if (state.deleted) throw entityNotFound("SoftwareModule", upload.moduleId);
  if (state.artifacts >= quotas.artifactsPerModule) {
    throw new HarrierError("quotaTooManyEntries", `A software module holds ${quotas.artifactsPerModule} artifacts at most.`);
  }
  if (state.nameTaken) throw new HarrierError("entityAlreadyExists", `The module has an artifact '${upload.filename}' already.`);
  if (state.locked) throw new HarrierError("locked", `The software module ${upload.moduleId} is locked.`);
}

/** Whether a module may take an artifact of this name now, and how long it may be. Changes nothing. */
export async function checkUpload(
  deps: Pick<Deps, "db" | "quotas">,
  tenantId: number,
  upload: CheckUploadRequest,
): Promise<{ maxBytes: number }> {
  const state = await uploadStateOf(deps.db.pool, tenantId, upload);
  checkUploadState(state, upload, deps.quotas);
  const left = deps.quotas.storedBytes - state.stored;
  if (left <= 0) throw new HarrierError("storageExceeded");
  return { maxBytes: Math.min(deps.quotas.artifactBytes, left) };
}

/**
 * Ends an upload: the artifact row, under the module's row lock (spec 001 §4.4). The bytes are in artifact-store by now. A command that
 * was carried out already gives its first answer again, whatever has become of the module.
 */
export async function attachArtifact(deps: Deps, uploader: Uploader, upload: AttachArtifactRequest): Promise<AttachedArtifact> {
  const id = await deps.ids.next(uploader.tenantId, "artifact");
  const attached = await withRetries(() => inTransaction(deps.db.pool, (tx) => attach(deps, tx, uploader, { ...upload, id })));
  await deps.fault("management.attach-artifact.after-commit");
  return attached;
}

async function attach(
  deps: Deps,
  tx: Queryable,
  uploader: Uploader,
  artifact: AttachArtifactRequest & { id: number },
): Promise<AttachedArtifact> {
  const { tenantId, subject, commandId } = uploader;
  await runOne(tx, lockModuleForUpload, [tenantId, artifact.moduleId]);
  const first = await runOne(tx, findAnswer, [tenantId, commandId]);
  if (first !== undefined) return first.answer;
  checkUploadState(await uploadStateOf(tx, tenantId, artifact), artifact, deps.quotas);
  if (artifact.size > deps.quotas.artifactBytes) {
    throw new HarrierError("fileSizeExceeded", `An artifact holds ${deps.quotas.artifactBytes} bytes at most.`);
  }
  const stored = await runOne(tx, insertArtifact, [tenantId, JSON.stringify(artifact), subject, commandId, deps.quotas.storedBytes]);
  if (stored === undefined) throw new HarrierError("storageExceeded");
  return stored;
}

async function uploadStateOf(db: Queryable, tenantId: number, upload: { moduleId: number; filename: string }): Promise<UploadState> {
  const state = await runOne(db, readUploadState, [tenantId, upload.moduleId, upload.filename]);
  if (state === undefined) throw entityNotFound("SoftwareModule", upload.moduleId);
  return state;
}
