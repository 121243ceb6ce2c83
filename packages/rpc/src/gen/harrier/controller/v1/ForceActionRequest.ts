// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ForceActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
}

export interface ForceActionRequest {
  controllerId: string;
  actionId: number;
}
