// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface DeleteActionsRequestInput {
  controllerId?: string;
  actionIds?: (number | string | Long)[];
  keepLast?: number;
  _keepLast?: "keepLast";
}

export interface DeleteActionsRequest {
  controllerId: string;
  actionIds: number[];
  keepLast?: number;
  _keepLast?: "keepLast";
}
