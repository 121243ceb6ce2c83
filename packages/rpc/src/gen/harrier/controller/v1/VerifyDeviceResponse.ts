// Generated from protos/harrier/controller/v1/device_identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface VerifyDeviceResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  subject?: string;
  revision?: number | string | Long;
  expiresAt?: number | string | Long;
}

export interface VerifyDeviceResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  subject: string;
  revision: number;
  expiresAt: number;
}
