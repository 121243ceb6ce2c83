import { run } from "@harrier/db";
import { backOff } from "@harrier/jobs";
import { servicePrincipal } from "@harrier/rpc";
import { pruneReleased } from "../blobs/blobs.sql.ts";
import { sweepBlobs } from "../blobs/blobs.ts";
import { expireUploads } from "../resumable/expire-uploads.ts";
import { parseStagingKey, stagingKey } from "../storage/storage.ts";
import { type AttachDeps, attachUpload, type PendingUpload, postpone, settleByRows } from "../upload/attach.ts";
import { leaseMs } from "../upload/lease.ts";
import { dropUpload } from "../upload/store.ts";
import { claimAbandoned, findUploads, type UploadRow } from "../upload/upload.sql.ts";

export interface JanitorDeps extends AttachDeps {
  readonly now: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

const attemptMs = 5_000;
const retries = { firstMs: 1_000, maxMs: 5 * 60_000 };
/** An upload that has had no clear answer for a day is settled by management's published rows. */
const hopelessAfterMs = 24 * 3_600_000;
/** A staged object without a row is removed at this age; a younger one may belong to an upload whose row has just been deleted. */
const strayAfterMs = 3_600_000;

/** Ends uploads whose lease has run out: the artifact is attached if management may already have written it; otherwise the upload is removed. */
export async function mendUploads(deps: JanitorDeps): Promise<number> {
  const uploads = await run(deps.db.pool, claimAbandoned, [leaseMs, 20]);
  for (const upload of uploads) {
    await mendUpload(deps, upload).catch((error: unknown) => {
      deps.log.warn({ err: error, upload: upload.id }, "an abandoned upload could not be ended; it is tried again");
    });
  }
  return uploads.length;
}

async function mendUpload(deps: JanitorDeps, row: UploadRow): Promise<void> {
  const upload = toPending(row);
  if (upload === undefined || row.state !== "attaching") {
    await dropUpload(deps, row, upload);
    deps.log.info({ upload: row.id, state: row.state }, "an abandoned upload was removed");
    return;
  }
  await deps.storage.delete(stagingKey(row.tenantId, row.id)); // the process may have died before it deleted the staged file
  const { tenantId, tenant, subject } = row.principal;
  const principal = servicePrincipal("artifact-store", { id: tenantId, name: tenant });
  const call = { principal, rid: `upload-${row.id}`, deadline: deps.now() + attemptMs, uploader: subject };
  const outcome = await attachUpload(deps, upload, call);
  if (outcome.kind !== "unknown") {
    deps.log.info({ upload: row.id, outcome: outcome.kind }, "an abandoned upload was settled");
  } else if (row.ageMs > hopelessAfterMs) {
    await settleByRows(deps, upload);
  } else {
    await postpone(deps, upload, backOff(row.attempts + 1, retries), outcome.error);
  }
}

function toPending(row: UploadRow): PendingUpload | undefined {
  const { filename, size, sha256, sha1, md5 } = row;
  if (filename === null || size === null || sha256 === null || sha1 === null || md5 === null) return undefined;
  // a dead process may have sent the attach command, so this attempt is never counted as the first
  const attempts = row.attempts + 1;
  return { tenantId: row.tenantId, id: row.id, leaseId: row.leaseId, moduleId: row.moduleId, filename, size, sha256, sha1, md5, attempts };
}

/** Deletes staged objects whose upload has no row any more. A writer that goes on after it lost its lease leaves such objects. */
export async function removeStrays(deps: JanitorDeps): Promise<number> {
  const old = new Map<string, { tenantId: number; uploadId: string }>();
  for await (const { key, modifiedAt } of deps.storage.listStaging()) {
    const upload = parseStagingKey(key);
    if (upload !== undefined && modifiedAt < deps.now() - strayAfterMs) old.set(key, upload);
  }
  const requested = [...old.values()];
  const rows = await run(deps.db.pool, findUploads, [requested.map((one) => one.tenantId), requested.map((one) => one.uploadId)]);
  const known = new Set(rows.map((row) => row.id));
  const strays = [...old].filter(([, upload]) => !known.has(upload.uploadId));
  for (const [key] of strays) await deps.storage.delete(key);
  return strays.length;
}

/** The interval at which strays and marks of released artifacts are removed. */
const tidyEveryMs = 600_000;

/**
 * Creates the janitor's round, which answers false where it has found nothing. Replicas may run it side by side: uploads are leased, blobs are locked,
 * and the rest may be repeated.
 */
export function createJanitor(deps: JanitorDeps): () => Promise<false | undefined> {
  let tidiedAt = 0;
  return async () => {
    const found = (await mendUploads(deps)) + (await expireUploads(deps)) + (await sweepBlobs(deps));
    if (deps.now() - tidiedAt >= tidyEveryMs) {
      tidiedAt = deps.now();
      await removeStrays(deps);
      await run(deps.db.pool, pruneReleased, []);
    }
    return found === 0 ? false : undefined;
  };
}
