import { type ArtifactUploadView, artifactUploads } from "@harrier/contracts";
import { run } from "@harrier/db";
import { discardRest, type Mount, TenantLimiter } from "@harrier/service";
import { partSize } from "../storage/storage.ts";
import { toView as artifactView, lengthOf, uploadingOf } from "../upload/upload.routes.ts";
import { type CompleteDeps, completeUpload } from "./complete-upload.ts";
import { readContentDigest } from "./content-digest.ts";
import { KeptHashes } from "./kept-hashes.ts";
import { maxOpen, openUploadInParts } from "./open-upload.ts";
import { PartsInProgress } from "./parts-in-progress.ts";
import { type PartDeps, receivePart } from "./receive-part.ts";
import { listUnfinished, type ResumableRow } from "./resumable.sql.ts";
import { cancelUpload, getUpload } from "./resumable.ts";

export interface ResumableRouteDeps extends Omit<CompleteDeps, "fault" | "log" | "kept" | "readers" | "joinMs"> {
  readonly fault: (name: Parameters<CompleteDeps["fault"]>[0] | Parameters<PartDeps["fault"]>[0]) => void | Promise<void>;
  /** A part of which no byte comes for this long is cut off. */
  readonly idleMs: number;
}

/** A part of a bucket is in memory as a whole: so many parts are received at a time, and the others wait in their connections. */
const partLimits = { perTenant: 4, total: 8, waiting: 50 };

/** So many completions read their files at a time, and the others wait: most of them have their hashes from the parts. */
const readLimits = { perTenant: 1, total: 2, waiting: 50 };

/** A completion that waits longer for its file is told to come again. */
const joinMs = 20_000;

/** A part has to come within this time, however steadily: a slow sender must not keep the places of others. */
const partMs = 600_000;

/** After an error at most this much of the body is read and discarded, so that the client can read the answer. */
const discardBudget = { bytes: 2 * partSize, ms: 5_000 };

const statuses = { open: "open", attaching: "completing", attached: "completed" } as const;

/** Mounts uploads in parts (contract console.md M15). */
export function mountResumable(mount: Mount, deps: ResumableRouteDeps): void {
  const places = new TenantLimiter(partLimits);
  const kept = new KeptHashes();
  const inProgress = new PartsInProgress();
  const completing = { ...deps, kept, readers: new TenantLimiter(readLimits), joinMs };
  mount(artifactUploads.open, async (ctx) => {
    const row = await openUploadInParts({ ...deps, log: ctx.log }, uploadingOf(ctx, ctx.params.softwareModuleId), ctx.body);
    return { body: toView(row) };
  });
  mount(artifactUploads.list, async ({ tenantId }) => {
    const rows = await run(deps.db.pool, listUnfinished, [tenantId, maxOpen.ofTenant]);
    return { body: rows.map(toView) };
  });
  mount(artifactUploads.get, async (ctx) => ({ body: toView(await getUpload(deps, namedBy(ctx))) }));
  mount(artifactUploads.sendPart, async (ctx) => {
    const { req } = ctx;
    try {
      const digest = readContentDigest(req.get("content-digest"));
      const part = { ...namedBy(ctx), offset: ctx.query.offset, length: lengthOf(req), digest };
      const receive = async (): Promise<ResumableRow> => {
        const cut = setTimeout(() => req.destroy(), partMs);
        req.setTimeout(deps.idleMs);
        try {
          return await receivePart({ ...deps, kept }, { ...part, source: req });
        } finally {
          clearTimeout(cut);
          req.setTimeout(0);
        }
      };
      const end = part.offset + (part.length ?? partSize);
      const row = await inProgress.inTurn({ ...part, end }, () => places.limiterOf(ctx.tenantId).run(receive));
      return { body: toView(row) };
    } catch (error) {
      discardRest(req, discardBudget);
      throw error;
    }
  });
  mount(artifactUploads.complete, async (ctx) => {
    const { softwareModuleId, uploadId } = ctx.params;
    const order = { ...uploadingOf(ctx, softwareModuleId), uploadId, given: ctx.query };
    const artifact = await completeUpload({ ...completing, log: ctx.log }, order);
    return { body: artifactView(ctx.base, softwareModuleId, artifact) };
  });
  mount(artifactUploads.cancel, async (ctx) => {
    await cancelUpload(deps, namedBy(ctx));
    return {};
  });
}

function namedBy(ctx: { readonly tenantId: number; readonly params: { readonly softwareModuleId: number; readonly uploadId: string } }) {
  return { tenantId: ctx.tenantId, moduleId: ctx.params.softwareModuleId, uploadId: ctx.params.uploadId };
}

function toView({ received, moduleId, openedBy, artifactId, state, ...row }: ResumableRow): ArtifactUploadView {
  return {
    id: row.id,
    status: statuses[state],
    filename: row.filename,
    size: row.size,
    offset: received,
    partSize,
    softwareModuleId: moduleId,
    ...(openedBy !== null && { openedBy }),
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    ...(artifactId !== null && { artifactId }),
  };
}
