// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ReserveSetRequestInput {
  setId?: number | string | Long;
}

export interface ReserveSetRequest {
  setId: number;
}
