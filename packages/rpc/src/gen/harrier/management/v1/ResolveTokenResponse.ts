// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";
import type {
  TargetTypes as _harrier_management_v1_TargetTypes,
  TargetTypesInput as _harrier_management_v1_TargetTypesInput,
} from "../../../harrier/management/v1/TargetTypes.ts";

export interface ResolveTokenResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  permissions?: string[];
  targetTypeScopes?: { [key: string]: _harrier_management_v1_TargetTypesInput };
  devices?: boolean;
  revision?: number | string | Long;
  userId?: number | string | Long;
}

export interface ResolveTokenResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  permissions: string[];
  targetTypeScopes: { [key: string]: _harrier_management_v1_TargetTypes };
  devices: boolean;
  revision: number;
  userId: number;
}
