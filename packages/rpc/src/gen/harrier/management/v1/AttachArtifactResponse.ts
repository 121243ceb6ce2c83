// Generated from protos/harrier/management/v1/catalogue.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface AttachArtifactResponseInput {
  id?: number | string | Long;
  createdBy?: string;
  createdAt?: number | string | Long;
}

export interface AttachArtifactResponse {
  id: number;
  createdBy: string;
  createdAt: number;
}
