import { isOver } from "@harrier/contracts";
import { type Database, type IdBlocks, inTransaction, type Queryable, runOne } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { withRetries } from "@harrier/query";
import type { AttachArtifactRequest, CheckUploadRequest } from "@harrier/rpc";
import type { FaultPoint } from "@harrier/service";
import { checkOwned } from "../quotas/limits.ts";
import {
  type AttachedArtifact,
  findAnswer,
  insertArtifact,
  lockModuleForUpload,
  readUploadState,
  type UploadState,
} from "./uploads.sql.ts";

/** This is what is stored of an upload; the user is passed separately. */
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

/** No file is larger than this. */
const unlimited = Number.MAX_SAFE_INTEGER;

const storageExceeded = (limit: number): HarrierError =>
  new HarrierError("storageExceeded", `Quota exceeded: the artifacts of the tenant hold ${limit} bytes at most.`);

/**
 * Checks the module for an upload. The order of these errors is part of the contract (management.md §4.3); the lock is checked early too,
 * with the same answer.
 */
export function checkUploadState(state: UploadState, upload: { moduleId: number; filename: string }): void {
  if (state.deleted) throw entityNotFound("SoftwareModule", upload.moduleId);
  checkOwned("ARTIFACTS_PER_SOFTWARE_MODULE_MAX_COUNT", state.maxArtifacts, { id: upload.moduleId, held: state.artifacts, added: 1 });
  if (state.nameTaken) throw new HarrierError("entityAlreadyExists", `The module has an artifact '${upload.filename}' already.`);
  if (state.locked) throw new HarrierError("locked", `The software module ${upload.moduleId} is locked.`);
}

/** Says whether a module may take an artifact of this name now, and how long it may be. It changes nothing. */
export async function checkUpload(
  deps: Pick<Deps, "db">,
  tenantId: number,
  upload: CheckUploadRequest,
): Promise<{ maxBytes: number; storageBound: boolean; storageLeft: number }> {
  const state = await uploadStateOf(deps.db.pool, tenantId, upload);
  checkUploadState(state, upload);
  const left = state.maxStored > 0 ? state.maxStored - state.stored : unlimited;
  if (left <= 0) throw storageExceeded(state.maxStored);
  const largest = state.maxBytes > 0 ? state.maxBytes : unlimited;
  return { maxBytes: Math.min(largest, left), storageBound: left < largest, storageLeft: left === unlimited ? 0 : left };
}

/**
 * Ends an upload: it inserts the artifact row under the lock of the module's row (spec 001 §4.4). The bytes are in artifact-store by now. A
 * command that was carried out before gets its first answer again, whatever has become of the module.
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
  if (isOver(state.maxBytes, artifact.size)) {
    throw new HarrierError("fileSizeExceeded", `Quota exceeded: an artifact holds ${state.maxBytes} bytes at most.`);
  }
  const stored = await runOne(tx, insertArtifact, [tenantId, JSON.stringify(artifact), subject, commandId]);
  if (stored === undefined) throw storageExceeded(state.maxStored);
  return stored;
}

async function uploadStateOf(db: Queryable, tenantId: number, upload: { moduleId: number; filename: string }): Promise<UploadState> {
  const state = await runOne(db, readUploadState, [tenantId, upload.moduleId, upload.filename]);
  if (state === undefined) throw entityNotFound("SoftwareModule", upload.moduleId);
  return state;
}
