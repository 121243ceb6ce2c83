import { type ArtifactView, artifacts } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { discardRest, type Mount, type RequestContext } from "@harrier/service";
import { readMultipart } from "./multipart.ts";
import { type UploadDeps, type UploadedArtifact, uploadArtifact } from "./upload-artifact.ts";

export interface UploadRouteDeps extends Omit<UploadDeps, "log"> {
  /** An upload that receives no byte for this long is cut off; its total duration is not limited. */
  readonly idleMs: number;
}

type Context = RequestContext<typeof artifacts.upload>;

/** After an error at most this much of the body is read and discarded, so that the client can read the answer. */
const discardBudget = { bytes: 16 * 1024 * 1024, ms: 5_000 };

/** Mounts the POST of a file to a software module (spec 001 §4.4, contract management.md §4.3). */
export function mountUpload(mount: Mount, deps: UploadRouteDeps): void {
  mount(artifacts.upload, async (ctx) => {
    const { req, identity } = ctx;
    try {
      if (!/^multipart\/form-data\b/i.test(req.headers["content-type"] ?? "")) throw new HarrierError("unsupportedMediaType");
      const artifact = await uploadArtifact(
        { ...deps, log: ctx.log },
        {
          principal: principalOf(ctx),
          ...onBehalfOf(ctx),
          rid: identity.rid,
          ...(identity.traceparent === undefined ? {} : { traceparent: identity.traceparent }),
          moduleId: ctx.params.softwareModuleId,
          given: ctx.query,
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
      return { body: toView(ctx, artifact) };
    } catch (error) {
      discardRest(req, discardBudget);
      throw error;
    }
  });
}

/** Returns the principal without the other parts of the identity: those are valid for this request only, but the janitor may need it a day later. */
function principalOf(ctx: Context): UploadPrincipal {
  const { tenantId, tenant, kind, subject, permissions, targetTypeScopes } = ctx.identity;
  return { tenantId, tenant, kind, subject, permissions, ...(targetTypeScopes === undefined ? {} : { targetTypeScopes }) };
}

function onBehalfOf(ctx: Context): Pick<Parameters<typeof uploadArtifact>[1], "onBehalf"> {
  const { onBehalf } = ctx.out();
  return onBehalf === undefined ? {} : { onBehalf };
}

type UploadPrincipal = Parameters<typeof uploadArtifact>[1]["principal"];

function toView(ctx: Context, artifact: UploadedArtifact): ArtifactView {
  const { id, createdBy, createdAt, filename, size, sha1, md5, sha256 } = artifact;
  const self = `${ctx.base}/softwaremodules/${ctx.params.softwareModuleId}/artifacts/${id}`;
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
