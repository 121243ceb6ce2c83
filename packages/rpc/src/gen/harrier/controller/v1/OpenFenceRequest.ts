// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface OpenFenceRequestInput {
  rolloutId?: number | string | Long;
  epoch?: number | string | Long;
}

export interface OpenFenceRequest {
  rolloutId: number;
  epoch: number;
}
