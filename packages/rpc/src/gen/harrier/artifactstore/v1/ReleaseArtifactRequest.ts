// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ReleaseArtifactRequestInput {
  artifactId?: number | string | Long;
  sha256?: string;
}

export interface ReleaseArtifactRequest {
  artifactId: number;
  sha256: string;
}
