// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";

export interface RefusalInput {
  tenantId?: number;
  tenant?: string;
  signedIn?: boolean;
  actor?: string;
  action?: string;
  entity?: string;
  entityIds?: string[];
  scheme?: string;
  address?: string;
  status?: number;
  errorCode?: string;
  requestId?: string;
  at?: number | string | Long;
  times?: number;
}

export interface Refusal {
  tenantId: number;
  tenant: string;
  signedIn: boolean;
  actor: string;
  action: string;
  entity: string;
  entityIds: string[];
  scheme: string;
  address: string;
  status: number;
  errorCode: string;
  requestId: string;
  at: number;
  times: number;
}
