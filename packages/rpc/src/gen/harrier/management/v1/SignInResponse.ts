// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface SignInResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  subject?: string;
  permissions?: string[];
  revision?: number | string | Long;
  userId?: number | string | Long;
}

export interface SignInResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  subject: string;
  permissions: string[];
  revision: number;
  userId: number;
}
