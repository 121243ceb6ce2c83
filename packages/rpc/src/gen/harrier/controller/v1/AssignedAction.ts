// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface AssignedActionInput {
  id?: number | string | Long;
  controllerId?: string;
}

export interface AssignedAction {
  id: number;
  controllerId: string;
}
