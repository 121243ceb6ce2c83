// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface StartChunkResponseInput {
  cursor?: number | string | Long;
  done?: boolean;
  started?: number;
  skipped?: number;
}

export interface StartChunkResponse {
  cursor: number;
  done: boolean;
  started: number;
  skipped: number;
}
