// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface AutoAssignChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  created?: number;
}

export interface AutoAssignChunkResponse {
  cursor: number;
  done: boolean;
  created: number;
}
