// Generated from protos/harrier/controller/v1/device_identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface WatchCredentialChangesResponseInput {
  heartbeat?: boolean;
  tenantId?: number;
  controllerId?: string;
  revision?: number | string | Long;
  tenant?: string;
}

export interface WatchCredentialChangesResponse {
  heartbeat: boolean;
  tenantId: number;
  controllerId: string;
  revision: number;
  tenant: string;
}
