// Generated from protos/harrier/rolloutengine/v1/rollouts.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface StopRolloutsOfSetRequestInput {
  setId?: number | string | Long;
  keepRunning?: boolean;
  initiator?: string;
}

export interface StopRolloutsOfSetRequest {
  setId: number;
  keepRunning: boolean;
  initiator: string;
}
