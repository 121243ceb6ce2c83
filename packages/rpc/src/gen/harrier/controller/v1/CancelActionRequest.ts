// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface CancelActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  force?: boolean;
}

export interface CancelActionRequest {
  controllerId: string;
  actionId: number;
  force: boolean;
}
