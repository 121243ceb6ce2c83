// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface EraseTenantTargetsResponseInput {
  rows?: number | string | Long;
  done?: boolean;
}

export interface EraseTenantTargetsResponse {
  rows: number;
  done: boolean;
}
