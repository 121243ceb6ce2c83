// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface CheckUploadRequestInput {
  moduleId?: number | string | Long;
  filename?: string;
}

export interface CheckUploadRequest {
  moduleId: number;
  filename: string;
}
