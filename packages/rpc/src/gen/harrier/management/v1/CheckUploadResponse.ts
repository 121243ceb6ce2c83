// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface CheckUploadResponseInput {
  maxBytes?: number | string | Long;
  storageBound?: boolean;
}

export interface CheckUploadResponse {
  maxBytes: number;
  storageBound: boolean;
}
