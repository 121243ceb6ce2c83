import { setTimeout as sleep } from "node:timers/promises";
import { run } from "@harrier/db";
import { HarrierError, toHarrierError } from "@harrier/errors";
import { servicePrincipal } from "@harrier/rpc";
import { pruneReleased } from "../blobs/blobs.sql.ts";
import { sweepBlobs } from "../blobs/blobs.ts";
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
const longestPauseMs = 5 * 60_000;
/** After a day without a clear answer the published rows decide. */
const hopelessAfterMs = 24 * 3_600_000;
/** A staged object without a row this old belongs to nobody; younger ones may belong to an upload whose row is about to go. */
const strayAfterMs = 3_600_000;

/** Ends every upload whose process died or lost touch: without its artifact, or with it where management may have written it. */
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
  await deps.storage.delete(stagingKey(row.tenantId, row.id)); // its process may have died just before it would have
  const { tenantId, tenant, subject } = row.principal;
  const principal = servicePrincipal("artifact-store", { id: tenantId, name: tenant });
  const call = { principal, rid: `upload-${row.id}`, deadline: deps.now() + attemptMs, uploader: subject };
  const outcome = await attachUpload(deps, upload, call);
  if (outcome.kind !== "unknown") {
    deps.log.info({ upload: row.id, outcome: outcome.kind }, "an abandoned upload was settled");
  } else if (row.ageMs > hopelessAfterMs) {
    await settleByRows(deps, upload);
  } else {
    await postpone(deps, upload, Math.min(1000 * 2 ** Math.min(row.attempts, 20), longestPauseMs), outcome.error);
  }
}

function toPending(row: UploadRow): PendingUpload | undefined {
  const { filename, size, sha256, sha1, md5 } = row;
  if (filename === null || size === null || sha256 === null || sha1 === null || md5 === null) return undefined;
  // it was attached at least once before, or its process died just before that: both count as "may be there"
  const attempts = row.attempts + 1;
  return { tenantId: row.tenantId, id: row.id, leaseId: row.leaseId, moduleId: row.moduleId, filename, size, sha256, sha1, md5, attempts };
}

/** Staged objects whose upload has no row any more: a writer that went on after its lease was lost. */
export async function removeStrays(deps: JanitorDeps): Promise<number> {
  const old = new Map<string, { tenantId: number; uploadId: string }>();
  for await (const { key, modifiedAt } of deps.storage.listStaging()) {
    const upload = parseStagingKey(key);
    if (upload !== undefined && modifiedAt < deps.now() - strayAfterMs) old.set(key, upload);
  }
  const asked = [...old.values()];
  const rows = await run(deps.db.pool, findUploads, [asked.map((one) => one.tenantId), asked.map((one) => one.uploadId)]);
  const known = new Set(rows.map((row) => row.id));
  const strays = [...old].filter(([, upload]) => !known.has(upload.uploadId));
  for (const [key] of strays) await deps.storage.delete(key);
  return strays.length;
}

export interface JanitorPace {
  readonly mendMs: number;
  readonly tidyMs: number;
}

/** Runs on every replica: uploads are claimed by lease, blobs are locked, and the rest may be done twice. */
export function startJanitor(deps: JanitorDeps, pace: JanitorPace = { mendMs: 5_000, tidyMs: 600_000 }): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let tidiedAt = 0;
  const round = async (): Promise<void> => {
    await mendUploads(deps);
    await sweepBlobs(deps);
    if (deps.now() - tidiedAt < pace.tidyMs) return;
    tidiedAt = deps.now();
    await removeStrays(deps);
    await run(deps.db.pool, pruneReleased, []);
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await round().catch((error: unknown) => {
        const { code } = error instanceof HarrierError ? error : toHarrierError(error);
        deps.log.warn({ err: error, code }, "a round of the janitor failed");
      });
      await sleep(pace.mendMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
