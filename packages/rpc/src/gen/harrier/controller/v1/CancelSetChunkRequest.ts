// Generated from protos/harrier/controller/v1/actions.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface CancelSetChunkRequestInput {
  setId?: number | string | Long;
  cursor?: number | string | Long;
  force?: boolean;
  initiator?: string;
}

export interface CancelSetChunkRequest {
  setId: number;
  cursor: number;
  force: boolean;
  initiator: string;
}
