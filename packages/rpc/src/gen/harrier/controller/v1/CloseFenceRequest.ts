// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface CloseFenceRequestInput {
  rolloutId?: number | string | Long;
  epoch?: number | string | Long;
}

export interface CloseFenceRequest {
  rolloutId: number;
  epoch: number;
}
