// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface EraseTenantArtifactsResponseInput {
  rows?: number | string | Long;
  done?: boolean;
}

export interface EraseTenantArtifactsResponse {
  rows: number;
  done: boolean;
}
