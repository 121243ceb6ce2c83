// Generated from protos/harrier/rolloutengine/v1/rollouts.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  EraseTenantRolloutsRequest as _harrier_rolloutengine_v1_EraseTenantRolloutsRequest,
  EraseTenantRolloutsRequestInput as _harrier_rolloutengine_v1_EraseTenantRolloutsRequestInput,
} from "../../../harrier/rolloutengine/v1/EraseTenantRolloutsRequest.ts";
import type {
  EraseTenantRolloutsResponse as _harrier_rolloutengine_v1_EraseTenantRolloutsResponse,
  EraseTenantRolloutsResponseInput as _harrier_rolloutengine_v1_EraseTenantRolloutsResponseInput,
} from "../../../harrier/rolloutengine/v1/EraseTenantRolloutsResponse.ts";
import type {
  StopRolloutsOfSetRequest as _harrier_rolloutengine_v1_StopRolloutsOfSetRequest,
  StopRolloutsOfSetRequestInput as _harrier_rolloutengine_v1_StopRolloutsOfSetRequestInput,
} from "../../../harrier/rolloutengine/v1/StopRolloutsOfSetRequest.ts";
import type {
  StopRolloutsOfSetResponse as _harrier_rolloutengine_v1_StopRolloutsOfSetResponse,
  StopRolloutsOfSetResponseInput as _harrier_rolloutengine_v1_StopRolloutsOfSetResponseInput,
} from "../../../harrier/rolloutengine/v1/StopRolloutsOfSetResponse.ts";

export interface RolloutsServiceDefinition extends grpc.ServiceDefinition {
  EraseTenantRollouts: MethodDefinition<
    _harrier_rolloutengine_v1_EraseTenantRolloutsRequestInput,
    _harrier_rolloutengine_v1_EraseTenantRolloutsResponseInput,
    _harrier_rolloutengine_v1_EraseTenantRolloutsRequest,
    _harrier_rolloutengine_v1_EraseTenantRolloutsResponse
  >;
  StopRolloutsOfSet: MethodDefinition<
    _harrier_rolloutengine_v1_StopRolloutsOfSetRequestInput,
    _harrier_rolloutengine_v1_StopRolloutsOfSetResponseInput,
    _harrier_rolloutengine_v1_StopRolloutsOfSetRequest,
    _harrier_rolloutengine_v1_StopRolloutsOfSetResponse
  >;
}
