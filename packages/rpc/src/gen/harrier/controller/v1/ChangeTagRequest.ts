// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ChangeTagRequestInput {
  tagId?: number | string | Long;
  controllerIds?: string[];
  assign?: boolean;
  onlyAll?: boolean;
}

export interface ChangeTagRequest {
  tagId: number;
  controllerIds: string[];
  assign: boolean;
  onlyAll: boolean;
}
