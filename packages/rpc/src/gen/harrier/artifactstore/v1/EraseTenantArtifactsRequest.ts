// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

export interface EraseTenantArtifactsRequestInput {
  countOnly?: boolean;
}

export interface EraseTenantArtifactsRequest {
  countOnly: boolean;
}
