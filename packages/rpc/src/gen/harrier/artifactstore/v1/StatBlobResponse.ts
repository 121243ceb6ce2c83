// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface StatBlobResponseInput {
  found?: boolean;
  size?: number | string | Long;
}

export interface StatBlobResponse {
  found: boolean;
  size: number;
}
