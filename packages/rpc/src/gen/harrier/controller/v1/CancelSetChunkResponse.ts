// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface CancelSetChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  canceled?: number;
}

export interface CancelSetChunkResponse {
  cursor: number;
  done: boolean;
  canceled: number;
}
