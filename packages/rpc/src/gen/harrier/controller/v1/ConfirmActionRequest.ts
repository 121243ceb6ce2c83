// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ConfirmActionRequestInput {
  controllerId?: string;
  actionId?: number | string | Long;
  confirmed?: boolean;
  code?: number;
  details?: string[];
  _code?: "code";
}

export interface ConfirmActionRequest {
  controllerId: string;
  actionId: number;
  confirmed: boolean;
  code?: number;
  details: string[];
  _code?: "code";
}
