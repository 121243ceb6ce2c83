import type { Handlers } from "@harrier/rpc";
import { eraseTenant } from "../tenants/erase-tenant.ts";
import { type BlobDeps, releaseArtifact, statBlob } from "./blobs.ts";

export interface ArtifactsRpcDeps extends BlobDeps {
  readonly log: { warn(fields: object, message: string): void };
}

/** The commands with which the owner of the artifact rows manages their blobs (proto harrier.artifactstore.v1). */
export function artifactsHandlers(deps: ArtifactsRpcDeps): Handlers<"harrier.artifactstore.v1.ArtifactsService"> {
  return {
    async releaseArtifact({ artifactId, sha256 }, ctx) {
      const { tenantId } = ctx.principal;
      const onSweepFailed = (error: unknown): void => {
        deps.log.warn({ err: error, rid: ctx.rid, sha256 }, "a released blob is left to the janitor");
      };
      await releaseArtifact({ ...deps, onSweepFailed }, { tenantId, artifactId, sha256 });
      return {};
    },
    async statBlob({ sha256 }, ctx) {
      const size = await statBlob(deps, ctx.principal.tenantId, sha256);
      return size === undefined ? { found: false, size: 0 } : { found: true, size };
    },
    eraseTenantArtifacts: (request, ctx) => eraseTenant(deps, request, ctx),
  };
}
