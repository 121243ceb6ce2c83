// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface TargetTypesInput {
  ids?: (number | string | Long)[];
}

export interface TargetTypes {
  ids: number[];
}
