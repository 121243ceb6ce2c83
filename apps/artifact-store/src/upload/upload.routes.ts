import type { IncomingMessage } from "node:http";
import { type ArtifactView, artifacts, type Route } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { discardRest, type Mount, type RequestContext } from "@harrier/service";
import type { Uploading } from "./attach-with-retries.ts";
import { createBlockPlaces } from "./block-places.ts";
import { readMultipart } from "./multipart.ts";
import { type UploadDeps, type UploadedArtifact, uploadArtifact } from "./upload-artifact.ts";

export interface UploadRouteDeps extends Omit<UploadDeps, "log"> {
  /** An upload that receives no byte for this long is cut off; its total duration is not limited. */
  readonly idleMs: number;
}

/** After an error at most this much of the body is read and discarded, so that the client can read the answer. */
const discardBudget = { bytes: 16 * 1024 * 1024, ms: 5_000 };

/** Mounts the POST of a file to a software module (spec 001 §4.4, contract management.md §4.3). */
export function mountUpload(mount: Mount, deps: UploadRouteDeps): void {
  const memoryOf = createBlockPlaces();
  mount(artifacts.upload, async (ctx) => {
    const { req } = ctx;
    // while an upload waits for us no byte of it is read
    const memory = memoryOf(ctx.tenantId, { onWait: () => void req.setTimeout(0), onPlace: () => void req.setTimeout(deps.idleMs) });
    try {
      if (!/^multipart\/form-data\b/i.test(req.headers["content-type"] ?? "")) throw new HarrierError("unsupportedMediaType");
      const artifact = await uploadArtifact(
        { ...deps, log: ctx.log },
        {
          ...uploadingOf(ctx, ctx.params.softwareModuleId),
          given: ctx.query,
          length: lengthOf(req),
          memory,
          read: async (store) => {
            req.setTimeout(deps.idleMs);
            try {
              return await readMultipart(req, store);
            } finally {
              req.setTimeout(0); // what follows has deadlines of its own and does not depend on the client
            }
          },
        },
      );
      return { body: toView(ctx.base, ctx.params.softwareModuleId, artifact) };
    } catch (error) {
      discardRest(req, discardBudget);
      throw error;
    }
  });
}

/** Returns the length that a request claims for its body, in bytes. */
export function lengthOf({ headers }: Pick<IncomingMessage, "headers">): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** What a request tells management of its caller. */
export function uploadingOf(ctx: Pick<RequestContext<Route>, "identity" | "out">, moduleId: number): Uploading {
  const { rid, traceparent } = ctx.identity;
  const { onBehalf } = ctx.out();
  return {
    principal: principalOf(ctx),
    ...(onBehalf === undefined ? {} : { onBehalf }),
    rid,
    ...(traceparent === undefined ? {} : { traceparent }),
    moduleId,
  };
}

/** Returns the principal without the other parts of the identity: those are valid for this request only, but the janitor may need it a day later. */
function principalOf({ identity }: Pick<RequestContext<Route>, "identity">): Uploading["principal"] {
  const { tenantId, tenant, kind, subject, permissions, targetTypeScopes } = identity;
  return { tenantId, tenant, kind, subject, permissions, ...(targetTypeScopes === undefined ? {} : { targetTypeScopes }) };
}

/** Shows the artifact that an upload has become. */
export function toView(base: string, moduleId: number, artifact: UploadedArtifact): ArtifactView {
  const { id, createdBy, createdAt, filename, size, sha1, md5, sha256 } = artifact;
  const self = `${base}/softwaremodules/${moduleId}/artifacts/${id}`;
  return {
    createdBy,
    createdAt,
    lastModifiedBy: createdBy,
    lastModifiedAt: createdAt,
    id,
    hashes: { sha1, md5, sha256 },
    providedFilename: filename,
    size,
    _links: { self: { href: self }, download: { href: `${self}/download` } },
  };
}
