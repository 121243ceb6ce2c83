// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface AssignmentItemInput {
  controllerId?: string;
  forceType?: string;
  forceTime?: number | string | Long;
  weight?: number;
}

export interface AssignmentItem {
  controllerId: string;
  forceType: string;
  forceTime: number;
  weight: number;
}
