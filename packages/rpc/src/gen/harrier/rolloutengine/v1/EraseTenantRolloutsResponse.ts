// Generated from protos/harrier/rolloutengine/v1/rollouts.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface EraseTenantRolloutsResponseInput {
  rows?: number | string | Long;
  done?: boolean;
}

export interface EraseTenantRolloutsResponse {
  rows: number;
  done: boolean;
}
