import { isOver } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import type { AttachArtifactRequest, CheckUploadRequest } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { withRetries } from "../lists/conflicts.ts";
import { checkOwned } from "../quotas/limits.ts";
import {
  type AttachedArtifact,
  findAnswer,
  insertArtifact,
  lockModuleForUpload,
  readUploadState,
  type UploadState,
} from "./uploads.sql.ts";

/** What is stored of an upload; who it was is said apart. */
export type Upload = Omit<AttachArtifactRequest, "uploader">;

interface Deps {
  db: Database;
  ids: Pick<IdBlocks, "next">;
  fault: (point: FaultPoint) => void | Promise<void>;
}

export interface Uploader {
  tenantId: number;
  subject: string;
  commandId: string;
}

/** More than any file has. */
const unlimited = Number.MAX_SAFE_INTEGER;

const storageExceeded = (limit: number): HarrierError =>
  new HarrierError("storageExceeded", `Quota exceeded: the artifacts of the tenant hold ${limit} bytes at most.`);

/** The order of these refusals is part of the contract (management.md §4.3); the lock is asked early too, with the same answer. */
export function checkUploadState(state: UploadState, upload: { moduleId: number; filename: string }): void {
  if (state.deleted) throw entityNotFound("SoftwareModule", upload.moduleId);
  checkOwned("ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT", state.mostArtifacts, { id: upload.moduleId, held: state.artifacts, added: 1 });
  if (state.nameTaken) throw new HarrierError("entityAlreadyExists", `The module has an artifact '${upload.filename}' already.`);
  if (state.locked) throw new HarrierError("locked", `The software module ${upload.moduleId} is locked.`);
}

/** Whether a module may take an artifact of this name now, and how long it may be. Changes nothing. */
export async function checkUpload(
  deps: Pick<Deps, "db">,
  tenantId: number,
  upload: CheckUploadRequest,
): Promise<{ maxBytes: number; storageBound: boolean }> {
  const state = await uploadStateOf(deps.db.pool, tenantId, upload);
  checkUploadState(state, upload);
  const left = state.mostStored > 0 ? state.mostStored - state.stored : unlimited;
  if (left <= 0) throw storageExceeded(state.mostStored);
  const largest = state.mostBytes > 0 ? state.mostBytes : unlimited;
  return { maxBytes: Math.min(largest, left), storageBound: left < largest };
}

/**
 * Ends an upload: the artifact row, under the module's row lock (spec 001 §4.4). The bytes are in artifact-store by now. A command that
 * was carried out already gives its first answer again, whatever has become of the module.
 */
export async function attachArtifact(deps: Deps, uploader: Uploader, upload: Upload): Promise<AttachedArtifact> {
  const id = await deps.ids.next(uploader.tenantId, "artifact");
  const attached = await withRetries(() => inTransaction(deps.db.pool, (tx) => attach(tx, uploader, { ...upload, id })));
  await deps.fault("management.attach-artifact.after-commit");
  return attached;
}

async function attach(tx: Queryable, uploader: Uploader, artifact: Upload & { id: number }): Promise<AttachedArtifact> {
  const { tenantId, subject, commandId } = uploader;
  await runOne(tx, lockModuleForUpload, [tenantId, artifact.moduleId]);
  const first = await runOne(tx, findAnswer, [tenantId, commandId]);
  if (first !== undefined) return first.answer;
  const state = await uploadStateOf(tx, tenantId, artifact);
  checkUploadState(state, artifact);
  if (isOver(state.mostBytes, artifact.size)) {
    throw new HarrierError("fileSizeExceeded", `Quota exceeded: an artifact holds ${state.mostBytes} bytes at most.`);
  }
  const stored = await runOne(tx, insertArtifact, [tenantId, JSON.stringify(artifact), subject, commandId]);
  if (stored === undefined) throw storageExceeded(state.mostStored);
  return stored;
}

async function uploadStateOf(db: Queryable, tenantId: number, upload: { moduleId: number; filename: string }): Promise<UploadState> {
  const state = await runOne(db, readUploadState, [tenantId, upload.moduleId, upload.filename]);
  if (state === undefined) throw entityNotFound("SoftwareModule", upload.moduleId);
  return state;
}
