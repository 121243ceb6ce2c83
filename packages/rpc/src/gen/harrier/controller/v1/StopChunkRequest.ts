// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface StopChunkRequestInput {
  rolloutId?: number | string | Long;
  cursor?: number | string | Long;
  keepRunning?: boolean;
  initiator?: string;
  force?: boolean;
}

export interface StopChunkRequest {
  rolloutId: number;
  cursor: number;
  keepRunning: boolean;
  initiator: string;
  force: boolean;
}
