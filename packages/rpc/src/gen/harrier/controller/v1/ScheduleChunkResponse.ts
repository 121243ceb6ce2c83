// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ScheduleChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  created?: number;
}

export interface ScheduleChunkResponse {
  cursor: number;
  done: boolean;
  created: number;
}
