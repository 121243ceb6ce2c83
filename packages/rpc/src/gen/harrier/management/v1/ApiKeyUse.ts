// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface ApiKeyUseInput {
  tenantId?: number;
  keyId?: number | string | Long;
  day?: number;
}

export interface ApiKeyUse {
  tenantId: number;
  keyId: number;
  day: number;
}
