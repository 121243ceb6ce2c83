// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface StopChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  removed?: number;
  canceled?: number;
}

export interface StopChunkResponse {
  cursor: number;
  done: boolean;
  removed: number;
  canceled: number;
}
