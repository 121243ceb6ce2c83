// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface WatchPrincipalChangesResponseInput {
  heartbeat?: boolean;
  tenantId?: number;
  userId?: number | string | Long;
  revision?: number | string | Long;
  tenant?: string;
}

export interface WatchPrincipalChangesResponse {
  heartbeat: boolean;
  tenantId: number;
  userId: number;
  revision: number;
  tenant: string;
}
