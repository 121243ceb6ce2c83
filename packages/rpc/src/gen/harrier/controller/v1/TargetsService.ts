// Generated from protos/harrier/controller/v1/targets.proto by packages/rpc/scripts/generate.mjs

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  CreateTargetsRequest as _harrier_controller_v1_CreateTargetsRequest,
  CreateTargetsRequestInput as _harrier_controller_v1_CreateTargetsRequestInput,
} from "../../../harrier/controller/v1/CreateTargetsRequest.ts";
import type {
  CreateTargetsResponse as _harrier_controller_v1_CreateTargetsResponse,
  CreateTargetsResponseInput as _harrier_controller_v1_CreateTargetsResponseInput,
} from "../../../harrier/controller/v1/CreateTargetsResponse.ts";
import type {
  DeleteTargetsRequest as _harrier_controller_v1_DeleteTargetsRequest,
  DeleteTargetsRequestInput as _harrier_controller_v1_DeleteTargetsRequestInput,
} from "../../../harrier/controller/v1/DeleteTargetsRequest.ts";
import type {
  DeleteTargetsResponse as _harrier_controller_v1_DeleteTargetsResponse,
  DeleteTargetsResponseInput as _harrier_controller_v1_DeleteTargetsResponseInput,
} from "../../../harrier/controller/v1/DeleteTargetsResponse.ts";
import type {
  ReadSecurityTokensRequest as _harrier_controller_v1_ReadSecurityTokensRequest,
  ReadSecurityTokensRequestInput as _harrier_controller_v1_ReadSecurityTokensRequestInput,
} from "../../../harrier/controller/v1/ReadSecurityTokensRequest.ts";
import type {
  ReadSecurityTokensResponse as _harrier_controller_v1_ReadSecurityTokensResponse,
  ReadSecurityTokensResponseInput as _harrier_controller_v1_ReadSecurityTokensResponseInput,
} from "../../../harrier/controller/v1/ReadSecurityTokensResponse.ts";
import type {
  UpdateTargetRequest as _harrier_controller_v1_UpdateTargetRequest,
  UpdateTargetRequestInput as _harrier_controller_v1_UpdateTargetRequestInput,
} from "../../../harrier/controller/v1/UpdateTargetRequest.ts";
import type {
  UpdateTargetResponse as _harrier_controller_v1_UpdateTargetResponse,
  UpdateTargetResponseInput as _harrier_controller_v1_UpdateTargetResponseInput,
} from "../../../harrier/controller/v1/UpdateTargetResponse.ts";

export interface TargetsServiceDefinition extends grpc.ServiceDefinition {
  CreateTargets: MethodDefinition<
    _harrier_controller_v1_CreateTargetsRequestInput,
    _harrier_controller_v1_CreateTargetsResponseInput,
    _harrier_controller_v1_CreateTargetsRequest,
    _harrier_controller_v1_CreateTargetsResponse
  >;
  DeleteTargets: MethodDefinition<
    _harrier_controller_v1_DeleteTargetsRequestInput,
    _harrier_controller_v1_DeleteTargetsResponseInput,
    _harrier_controller_v1_DeleteTargetsRequest,
    _harrier_controller_v1_DeleteTargetsResponse
  >;
  ReadSecurityTokens: MethodDefinition<
    _harrier_controller_v1_ReadSecurityTokensRequestInput,
    _harrier_controller_v1_ReadSecurityTokensResponseInput,
    _harrier_controller_v1_ReadSecurityTokensRequest,
    _harrier_controller_v1_ReadSecurityTokensResponse
  >;
  UpdateTarget: MethodDefinition<
    _harrier_controller_v1_UpdateTargetRequestInput,
    _harrier_controller_v1_UpdateTargetResponseInput,
    _harrier_controller_v1_UpdateTargetRequest,
    _harrier_controller_v1_UpdateTargetResponse
  >;
}
