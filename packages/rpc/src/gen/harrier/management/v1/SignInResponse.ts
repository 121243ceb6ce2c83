// Generated from protos/harrier/management/v1/identity.proto by packages/rpc/scripts/generate.mjs

import type { Long } from "@grpc/proto-loader";
import type {
  TargetTypes as _harrier_management_v1_TargetTypes,
  TargetTypesInput as _harrier_management_v1_TargetTypesInput,
} from "../../../harrier/management/v1/TargetTypes.ts";

export interface SignInResponseInput {
  ok?: boolean;
  tenantId?: number;
  tenant?: string;
  subject?: string;
  permissions?: string[];
  revision?: number | string | Long;
  userId?: number | string | Long;
  targetTypeScopes?: { [key: string]: _harrier_management_v1_TargetTypesInput };
}

export interface SignInResponse {
  ok: boolean;
  tenantId: number;
  tenant: string;
  subject: string;
  permissions: string[];
  revision: number;
  userId: number;
  targetTypeScopes: { [key: string]: _harrier_management_v1_TargetTypes };
}
